import type { EventDraft, TaskRun } from '../tasks/index.js';
import type { FileProgress } from './file-fetch.js';
import type { ListedFile } from './model-source.js';

const SHORTEST_PAUSE_MS = 1000;
/** The longer it takes, the rarer they get: a pull of a day has some thousand events, each 0.5 % of its time apart. */
const PARTS = 200;
/** Ends of files that are told each for itself. */
const TOLD_FILES = 100;

/** Tells how far a pull is: live in the task object, and now and then by an event. */
export class PullProgress {
  private readonly have = new Map<string, number>();
  private readonly startedAt: number;
  private toldAt: number;
  private toldFiles = 0;
  private total = 0;

  constructor(
    private readonly run: Pick<TaskRun, 'append' | 'progress'>,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.startedAt = now();
    this.toldAt = now();
  }

  phase(phase: string): void {
    const fraction = this.total === 0 ? null : Math.min(1, this.bytes / this.total);
    this.run.progress({ phase, load_fraction: fraction, prompt_tokens: null, output_tokens: 0 });
  }

  /** The files that make up the whole. */
  expect(files: readonly ListedFile[]): void {
    this.total = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  of(file: ListedFile): FileProgress {
    return async (have) => {
      const before = this.have.get(file.path);
      this.have.set(file.path, have);
      this.phase('fetching');
      const isEnd = have === file.sizeBytes && before !== have;
      if (isEnd ? this.toldFiles++ < TOLD_FILES : this.isDue) await this.tell(file, have);
    };
  }

  private get bytes(): number {
    return [...this.have.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  private get isDue(): boolean {
    const pause = Math.max(SHORTEST_PAUSE_MS, (this.toldAt - this.startedAt) / PARTS);
    return this.now() - this.toldAt >= pause;
  }

  private async tell({ path, sizeBytes }: ListedFile, have: number): Promise<void> {
    this.toldAt = this.now();
    const event: EventDraft = {
      type: 'model.pull.progress',
      payload: {
        file: path,
        file_bytes: have,
        file_total_bytes: sizeBytes,
        bytes: this.bytes,
        total_bytes: this.total,
      },
    };
    await this.run.append({ events: [event], snapshot: null });
  }
}
