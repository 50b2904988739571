import { Injectable } from '@nestjs/common';
import { MonotonicClock } from './monotonic-clock.js';

/** Who asks waits so long: small models are read by then, large ones are ready for the next to ask. */
const LONGEST_WAIT_MS = 1500;
const SHORTEST_PAUSE_MS = 1000;
/** Reading may take a tenth of the time at most, however often somebody asks. */
const PAUSE_PER_DURATION = 9;

/** Looks at the files of broken models again when they are asked for, one look at a time and not too often. */
@Injectable()
export class ModelRechecks {
  private readonly running = new Map<string, Promise<void>>();
  private readonly notBefore = new Map<string, number>();

  constructor(private readonly clock: MonotonicClock) {}

  /** Resolves when the look is over, or would take too long; at once where the last one is not long ago. Never rejects. */
  async ask(modelId: string, look: () => Promise<unknown>): Promise<void> {
    const running = this.running.get(modelId) ?? this.begin(modelId, look);
    if (running === null) return;
    await new Promise<void>((resolve) => {
      const cancel = this.clock.after(LONGEST_WAIT_MS, resolve);
      void running.then(() => {
        cancel();
        resolve();
      });
    });
  }

  private begin(modelId: string, look: () => Promise<unknown>): Promise<void> | null {
    const since = this.clock.now();
    if (since < (this.notBefore.get(modelId) ?? -Infinity)) return null;
    const running = look()
      .catch(() => undefined)
      .then(() => {
        const now = this.clock.now();
        this.notBefore.set(modelId, now + Math.max(SHORTEST_PAUSE_MS, PAUSE_PER_DURATION * (now - since)));
        this.running.delete(modelId);
      });
    this.running.set(modelId, running);
    return running;
  }
}
