import type { GenerationEnd, GenerationStep, ReplayedStep } from '../inference-engine.js';

/** What happened in one turn, for all rows: the one message per step. */
export interface TurnReport {
  /** [generation, prompt tokens processed so far, of them those that an earlier prompt had left]. */
  prefilled: [string, number, number][];
  /** [generation, what the tokens of its log yield]: once, when it is taken in. */
  rebuilt: [string, ReplayedStep[]][];
  /** [generation, tokens of its log decoded again so far]. */
  replayed: [string, number][];
  steps: [string, GenerationStep][];
  ended: [string, GenerationEnd][];
  /** Nothing can be done before the next message. */
  idle: boolean;
}

export function emptyReport(): TurnReport {
  return { prefilled: [], rebuilt: [], replayed: [], steps: [], ended: [], idle: false };
}
