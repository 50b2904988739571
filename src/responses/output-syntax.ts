import type { ToolCallForm } from '../inference/index.js';

/** How the text of a generation becomes items; part of its record, so that a later attempt makes the same ones. */
export interface OutputSyntax {
  /** `open`: it begins inside of its reasoning, `possible`: it may begin with it, null: it has none. */
  reasoning: 'open' | 'possible' | null;
  /** Null: text that looks like a call is text. */
  calls: CallSyntax | null;
}

export interface CallSyntax {
  form: ToolCallForm;
  /** Of functions; a call of another is text. */
  names: string[];
  /** Calls at most; the output ends before a further one. */
  most: number | null;
}

export const REASONING_OPEN = '<think>';
export const REASONING_CLOSE = '</think>';
