/** Counts what has happened of each kind; tests wait for a point of a life by it, never by time. */
export class ProgressPoints<Kind extends string> {
  private readonly counts = new Map<Kind, number>();
  private waiting: { kind: Kind; count: number; resolve: () => void }[] = [];
  private over = false;

  advance(kind: Kind): void {
    this.counts.set(kind, this.of(kind) + 1);
    this.wake();
  }

  of(kind: Kind): number {
    return this.counts.get(kind) ?? 0;
  }

  /** Nothing more will happen: whoever still waits goes on. */
  end(): void {
    this.over = true;
    this.wake();
  }

  /** Resolves when the kind has happened so often, or nothing more will happen. */
  reach(kind: Kind, count: number): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push({ kind, count, resolve });
      this.wake();
    });
  }

  private wake(): void {
    const due = this.waiting.filter(({ kind, count }) => this.over || this.of(kind) >= count);
    this.waiting = this.waiting.filter((entry) => !due.includes(entry));
    for (const { resolve } of due) resolve();
  }
}
