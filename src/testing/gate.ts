/** A door: open, or letting a counted number through. */
export class Gate {
  private permits = Infinity;
  private waiting: (() => void)[] = [];

  hold(): void {
    this.permits = 0;
  }

  release(): void {
    this.permit(Infinity);
  }

  permit(count: number): void {
    this.permits += count;
    while (this.permits > 0 && this.waiting.length > 0) {
      this.permits--;
      this.waiting.shift()!();
    }
  }

  async pass(): Promise<void> {
    if (this.permits > 0) this.permits--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}
