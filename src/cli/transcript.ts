/** The part of a response's events that its text is made of (WIRE B5). */
export interface ResponseEvent {
  type: string;
  sequence_number: number;
  delta?: string;
  response?: ResponseSnapshot;
}

export interface ResponseSnapshot {
  id: string;
  status: string;
  model: string;
  output: { content?: { type: string; text?: string }[] }[];
  error: { code: string; message: string } | null;
  incomplete_details: { reason: string } | null;
  usage: { input_tokens: number; output_tokens: number } | null;
  lmsp: { task_id: string | null; task_status: string; attempt: number; replayed_tokens: number };
}

/** What an event adds to the text. */
export interface Addition {
  /** The text begins anew with `text`: what was shown before belongs to another attempt. */
  isRestart: boolean;
  text: string;
}

/**
 * Joins the events of a response into its text. A lifecycle snapshot replaces what came before it (invariant 7): one that
 * goes on is completed, one that does not starts anew.
 */
export class Transcript {
  private text = '';

  /** `isWhole`: read from the first event, so that text before the first snapshot is known. */
  constructor(private isWhole = true) {}

  add(event: ResponseEvent): Addition {
    if (event.response) return this.replace(textOf(event.response));
    if (event.type !== 'response.output_text.delta') return { isRestart: false, text: '' };
    this.text += event.delta ?? '';
    return { isRestart: false, text: event.delta ?? '' };
  }

  private replace(whole: string): Addition {
    const shown = this.text;
    const joinedLate = !this.isWhole && whole.endsWith(shown);
    this.isWhole = true;
    this.text = whole;
    if (joinedLate) return { isRestart: false, text: '' };
    if (whole.startsWith(shown)) return { isRestart: false, text: whole.slice(shown.length) };
    return { isRestart: true, text: whole };
  }
}

export function textOf({ output }: ResponseSnapshot): string {
  const parts = output.flatMap(({ content }) => content ?? []);
  return parts.map(({ type, text }) => (type === 'output_text' ? (text ?? '') : '')).join('');
}

const TERMINAL = ['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled'];

/** The last event of a task. */
export function isLast(type: string): boolean {
  return TERMINAL.includes(type);
}
