import { setTimeout as delay } from 'node:timers/promises';
import { hubUnavailable } from './hub/hub-errors.js';
import { SourceInterrupted } from './model-source.js';

const LONGEST_PAUSE_MS = 30_000;

export interface PauseOptions {
  /** In a row without progress, before it is given up. */
  tries: number;
  firstMs: number;
  /** Hears why each pause is made. */
  told?: (reason: string) => void;
}

/** The pauses between tries, twice as long each time, until there is progress. */
export class Pauses {
  private fruitless = 0;

  constructor(private readonly options: PauseOptions) {}

  /** Throws hub_unavailable when the tries are used up, and the signal's reason. */
  async wait({ message, pauseSeconds }: SourceInterrupted, isProgress: boolean, signal: AbortSignal): Promise<void> {
    this.fruitless = isProgress ? 0 : this.fruitless + 1;
    if (this.fruitless >= this.options.tries) throw hubUnavailable(message);
    this.options.told?.(message);
    const pauseMs = Math.min(this.options.firstMs * 2 ** this.fruitless, LONGEST_PAUSE_MS);
    const ms = Math.max(pauseMs, (pauseSeconds ?? 0) * 1000);
    await delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
  }

  /** The same question until the hub answers it. */
  async until<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof SourceInterrupted)) throw error;
        await this.wait(error, false, signal);
      }
    }
  }
}
