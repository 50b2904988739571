import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Another process at the store's file: a backup program, a shell, a second tool (CASES BL-13, BL-16). */
export class ForeignWriter {
  private readonly child: ChildProcess;

  /** @param file path of `lmsp.sqlite` */
  constructor(file: string) {
    this.child = fork(new URL('./foreign-writer.mjs', import.meta.url), [file], { execArgv: [] });
  }

  /** Takes the write lock and keeps it. */
  lock(): Promise<number> {
    return this.tell('lock');
  }

  /** Lets go of the write lock, or ends the read. */
  release(): Promise<number> {
    return this.tell('release');
  }

  /** Begins a read and stays in the middle of it. */
  read(): Promise<number> {
    return this.tell('read');
  }

  /** Makes small commits, one after the other, until `rest`. */
  churn(): Promise<number> {
    return this.tell('churn');
  }

  /** Resolves with the number of commits made. */
  rest(): Promise<number> {
    return this.tell('rest');
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }

  private async tell(task: string): Promise<number> {
    this.child.send(task);
    const [answer] = (await once(this.child, 'message')) as [{ commits: number }];
    return answer.commits;
  }
}
