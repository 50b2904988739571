import type { Tx } from '../../src/database/index.js';
import type { TaskRecorder, TaskTransition } from '../../src/tasks/index.js';
import type { TaskLab } from './task-lab.js';

export interface Failed {
  task_id: string;
  command: string;
  outcome: string;
}

/** Writes a row for every transition into a table of its own, and then fails where a test says so. */
export class NotingRecorder implements TaskRecorder {
  /** Calls, those of units that were rolled back included. */
  readonly calls: TaskTransition[] = [];
  readonly failed: Failed[] = [];
  fails: (transition: TaskTransition) => boolean | Promise<boolean> = () => false;

  private constructor(private readonly lab: TaskLab) {
    lab.notices.on('recorder.failed', ({ task_id, command, outcome }) => {
      this.failed.push({ task_id, command, outcome });
    });
  }

  static async in(lab: TaskLab, owner = 'noting'): Promise<NotingRecorder> {
    await lab.write((tx) =>
      tx.execute('CREATE TABLE notes (task_id, command, from_status, to_status, event, sequence_number)'),
    );
    const recorder = new NotingRecorder(lab);
    lab.recorders.register(owner, recorder);
    return recorder;
  }

  async record(tx: Tx, transition: TaskTransition): Promise<void> {
    this.calls.push(transition);
    const { task, command, from, to, event, sequenceNumber } = transition;
    await tx.execute('INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?)', [
      task.id,
      command,
      from,
      to,
      event,
      sequenceNumber,
    ]);
    if (await this.fails(transition)) throw new Error('the recorder failed');
  }

  /** What is on disk, in order: `command: from→to`. */
  async notes(taskId: string): Promise<string[]> {
    const rows = await this.lab.store.reader.query<{ command: string; from_status: string; to_status: string }>(
      'select * from notes where task_id = ? order by rowid',
      [taskId],
    );
    return rows.map((row) => `${row.command}: ${row.from_status ?? '–'}→${row.to_status}`);
  }

  outcomes(taskId: string, command?: string): string[] {
    const own = this.failed.filter((each) => each.task_id === taskId && (!command || each.command === command));
    return own.map(({ outcome }) => outcome);
  }
}
