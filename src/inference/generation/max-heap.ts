/** Binary heap over ids; building costs O(n), each pop O(log n), so that a few best of many never cost a whole sort. */
export class MaxHeap {
  private readonly ids: number[];

  /** `above(a, b)` is a strict total order. */
  constructor(
    ids: readonly number[],
    private readonly above: (a: number, b: number) => boolean,
  ) {
    this.ids = [...ids];
    for (let i = (this.ids.length >> 1) - 1; i >= 0; i--) this.sink(i);
  }

  get size(): number {
    return this.ids.length;
  }

  /** The highest id; the heap must not be empty. */
  pop(): number {
    const top = this.ids[0]!;
    const last = this.ids.pop()!;
    if (this.ids.length > 0) {
      this.ids[0] = last;
      this.sink(0);
    }
    return top;
  }

  /** All ids from the highest down, taken out as they are read. */
  *drain(): Generator<number> {
    while (this.ids.length > 0) yield this.pop();
  }

  private sink(start: number): void {
    const { ids, above } = this;
    let at = start;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= ids.length) return;
      if (child + 1 < ids.length && above(ids[child + 1]!, ids[child]!)) child++;
      if (!above(ids[child]!, ids[at]!)) return;
      [ids[at], ids[child]] = [ids[child]!, ids[at]!];
      at = child;
    }
  }
}
