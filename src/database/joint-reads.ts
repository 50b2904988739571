/** One read under way, and the one that whoever asks meanwhile will get. */
interface Reads<T> {
  now: Promise<T>;
  next: Promise<T> | null;
}

/**
 * Equal reads that are asked for at the same time are made once. An answer is never older than its question: whoever
 * asks while one is under way shares the next one. What they get is the same object.
 */
export class JointReads<T> {
  private readonly reads = new Map<string, Reads<T>>();

  /** `read` is what the key stands for. */
  get(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.reads.get(key);
    if (known) return (known.next ??= known.now.then(nothing, nothing).then(() => this.start(key, read)));
    return this.start(key, read);
  }

  private start(key: string, read: () => Promise<T>): Promise<T> {
    const reads: Reads<T> = { now: read(), next: null };
    this.reads.set(key, reads);
    const ended = (): void => {
      if (reads.next === null) this.reads.delete(key);
    };
    reads.now.then(ended, ended);
    return reads.now;
  }
}

function nothing(): void {}
