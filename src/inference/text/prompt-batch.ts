import type { TextJob } from './text-protocol.js';

/** Prompts of one message at most, and characters of their texts. */
const MOST_PROMPTS = 64;
const MOST_CHARACTERS = 65_536;

/** A prompt that waits. `alone`: a worker was lost over it and others. */
export interface WaitingPrompt {
  job: TextJob;
  alone: boolean;
}

/**
 * Takes from the head of the queue what one message takes to a worker: short prompts together, since each message and
 * each look at a model's files costs as much as several of them, and any other by itself. `idle`: workers that could
 * take their share.
 */
export function takeBatch<P extends WaitingPrompt>(waiting: P[], idle = 1): P[] {
  const most = Math.min(MOST_PROMPTS, Math.ceil(waiting.length / idle));
  let left = MOST_CHARACTERS;
  const end = waiting.findIndex(({ job, alone }, i) => {
    left -= alone ? Infinity : charactersOf(job);
    return i > 0 && (left < 0 || i >= most);
  });
  return waiting.splice(0, end < 0 ? waiting.length : end);
}

/** Infinity where it is not worth finding out. */
function charactersOf(job: TextJob): number {
  switch (job.kind) {
    case 'chat':
      return job.tools ? Infinity : job.messages.reduce((sum, { content }) => sum + content.length, 0);
    case 'text':
      return job.text.length;
    case 'decode':
      return job.tokens.length;
    default:
      return Infinity;
  }
}
