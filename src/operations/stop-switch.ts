import { Injectable } from '@nestjs/common';

/** Where a request to stop arrives; whoever owns the process connects what ends it. */
@Injectable()
export class StopSwitch {
  private end: (() => void) | null = null;

  connect(end: () => void): void {
    this.end = end;
  }

  /** Begins the clean stop, as the first SIGTERM does. */
  press(): void {
    if (this.end === null) throw new Error('nobody ends this process');
    this.end();
  }
}
