import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChatMessage } from '../../src/inference/index.js';

/** The recorded answers of the reference implementation, as they lie beside each model. */
export interface Reference {
  items: {
    name: string;
    messages: ChatMessage[];
    rendered: string;
    prompt_ids: number[];
    greedy_ids: number[];
    greedy_text?: string;
    /** By how much each greedy id led the second. */
    lead_logits: number[];
  }[];
  tokenizer?: { text: string; ids: number[]; decoded_skip_special: string }[];
}

export const SMOLLM = 'smollm2-135m-instruct';
export const SMOLLM_PLAIN = 'smollm2-135m-6layers-plain';

/** Folder of the real models; null, said in a line, where there is none (LMSP_TEST_MODELS, set by .ci/run). */
export function realModels(what: string): string | null {
  const folder = process.env['LMSP_TEST_MODELS'] ?? '';
  if (folder !== '' && existsSync(join(folder, SMOLLM))) return folder;
  process.stdout.write(`left out: ${what}; LMSP_TEST_MODELS names no folder of real models\n`);
  return null;
}

export function referenceOf(directory: string): Reference {
  return JSON.parse(readFileSync(join(directory, 'reference.json'), 'utf8')) as Reference;
}

/**
 * Lead of the recorded id at the first that differs; Infinity where all are equal. On another processor a near tie may
 * fall the other way, and what follows it is another text.
 */
export function leadAtFirstDifference(item: Reference['items'][number], ids: readonly number[]): number {
  const at = ids.findIndex((id, i) => id !== item.greedy_ids[i]);
  return at < 0 ? Infinity : item.lead_logits[at]!;
}
