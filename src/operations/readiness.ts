import { Injectable } from '@nestjs/common';

type Phase =
  { name: 'starting' } | { name: 'recovering'; done: number; total: number } | { name: 'ready' } | { name: 'stopping' };

/** Where the service stands between start and stop. Whoever leads it through (main, recovery's progress) says so here. */
@Injectable()
export class Readiness {
  private phase: Phase = { name: 'starting' };

  /** `done` of `total` tasks have been decided by recovery. */
  recovering(done: number, total: number): void {
    this.enter({ name: 'recovering', done, total });
  }

  ready(): void {
    this.enter({ name: 'ready' });
  }

  stopping(): void {
    this.enter({ name: 'stopping' });
  }

  get isStopping(): boolean {
    return this.phase.name === 'stopping';
  }

  /** Before recovery ends no old state may be visible (WIRE B6). */
  get isRecovered(): boolean {
    return this.phase.name === 'ready' || this.phase.name === 'stopping';
  }

  /** Why the service takes no work, in words (WIRE B2, /ready); null when it does. */
  get obstacle(): string | null {
    switch (this.phase.name) {
      case 'recovering':
        return `recovering ${this.phase.done} of ${this.phase.total}`;
      case 'ready':
        return null;
      default:
        return this.phase.name;
    }
  }

  private enter(phase: Phase): void {
    // A stop can begin in the middle of recovery, whose late news must not undo it.
    if (!this.isStopping) this.phase = phase;
  }
}
