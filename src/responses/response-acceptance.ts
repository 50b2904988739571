import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { Batcher, type Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { TaskLifecycleService, TaskUnits, type Task, type TaskDraft } from '../tasks/index.js';
import { ResponseAdmission, type Verdict } from './response-admission.js';
import { RESPONSE_TASK_TYPE } from './response-handler.js';
import { newRow, ResponseStore, taskIdOf, type NewRow, type ResponseDraft } from './response-store.js';

/** The task of a request: made for it, or for the first with its key. */
export interface Accepted {
  task: Task;
  repeated: boolean;
  /** JSON of the response that was stored for the request, unless it is a repeat. */
  body: string;
}

/**
 * Makes responses durable: response, task and events 0 and 1 in one unit, many requests to a commit (R1, R2). What was
 * accepted here is on disk before anybody is told.
 */
@Injectable()
export class ResponseAcceptance {
  private readonly batcher: Batcher<NewRow, Accepted>;

  constructor(
    units: TaskUnits,
    private readonly lifecycle: TaskLifecycleService,
    private readonly store: ResponseStore,
    private readonly admission: ResponseAdmission,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.batcher = new Batcher({
      units,
      kind: 'accept',
      maxBatch: config.acceptBatchSize,
      // One that came at the end of another's wait has its own before it; waiting makes no room on a full disk.
      storageWaitMs: (fault) => (fault === 'busy' ? config.busyTimeoutMs : 0),
      run: (tx, rows: NewRow[]) => this.write(tx, rows),
    });
  }

  /**
   * Resolves once the task is committed. Throws queue_full, storage_busy, storage_full, server_shutting_down,
   * idempotency_key_reused, previous_response_not_found, item_not_found, rate_limit_exceeded.
   */
  async accept(draft: ResponseDraft): Promise<Accepted> {
    await this.admission.requireRoom();
    return this.batcher.submit(newRow(draft));
  }

  private async write(tx: Tx, rows: NewRow[]): Promise<Array<() => Accepted>> {
    const admission = await this.admission.open(
      tx,
      rows.map(({ draft }) => draft),
    );
    const verdicts: { row: NewRow; verdict: Verdict }[] = [];
    for (const row of rows) {
      verdicts.push({ row, verdict: this.refusalOf(tx, row.draft) ?? (await admission.admit(row.draft)) });
    }
    const admitted = verdicts.filter(({ verdict }) => isNew(verdict)).map(({ row }) => row);
    await this.store.insert(tx, admitted);
    const made = await this.lifecycle.enqueue(
      tx,
      admitted.map((row) => this.taskDraft(row)),
    );
    const tasks = new Map([...admission.repeated, ...made.map((task) => [task.id, task] as const)]);
    return verdicts.map(
      ({ row, verdict }) =>
        () =>
          accepted(row, verdict, tasks),
    );
  }

  /** One whose task cannot be recorded takes no other of the commit with it. */
  private refusalOf(tx: Tx, { body }: ResponseDraft): DomainError | null {
    return this.lifecycle.refusalOf(tx, taskIdOf(body.id));
  }

  private taskDraft({ draft: { clientId, body, keyed }, body: text }: NewRow): TaskDraft {
    return {
      id: taskIdOf(body.id),
      type: RESPONSE_TASK_TYPE,
      clientId,
      responseId: body.id,
      model: body.model,
      onRestart: body.lmsp.on_restart,
      background: body.background,
      input: null,
      metadata: body.metadata,
      maxInterruptions: this.config.maxInterruptions,
      view: `{"response":${text}}`,
      ...(keyed && { keyed }),
    };
  }
}

function isNew(verdict: Verdict): boolean {
  return !(verdict instanceof DomainError) && !verdict.repeated;
}

function accepted({ body }: NewRow, verdict: Verdict, tasks: ReadonlyMap<string, Task>): Accepted {
  if (verdict instanceof DomainError) throw verdict;
  const task = tasks.get(verdict.taskId);
  if (!task) throw new Error('an admitted response has no task');
  return { task, repeated: verdict.repeated, body };
}
