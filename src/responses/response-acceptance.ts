import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { Batcher, UnitOfWork, type Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { TaskLifecycleService, type Task, type TaskDraft } from '../tasks/index.js';
import { ResponseAdmission } from './response-admission.js';
import { RESPONSE_TASK_TYPE } from './response-handler.js';
import { ResponseStore, taskIdOf, type ResponseDraft } from './response-store.js';

/**
 * Makes responses durable: response, task and events 0 and 1 in one unit, many requests to a commit (R1, R2). What was
 * accepted here is on disk before anybody is told.
 */
@Injectable()
export class ResponseAcceptance {
  private readonly batcher: Batcher<ResponseDraft, Task>;

  constructor(
    units: UnitOfWork,
    private readonly lifecycle: TaskLifecycleService,
    private readonly store: ResponseStore,
    private readonly admission: ResponseAdmission,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.batcher = new Batcher({
      units,
      maxBatch: config.acceptBatchSize,
      // One that came at the end of another's wait has its own before it; waiting makes no room on a full disk.
      storageWaitMs: (fault) => (fault === 'busy' ? config.busyTimeoutMs : 0),
      run: (tx, drafts: ResponseDraft[]) => this.write(tx, drafts),
    });
  }

  /** Resolves once the task is committed. Throws queue_full, storage_busy, storage_full, server_shutting_down. */
  accept(draft: ResponseDraft): Promise<Task> {
    return this.batcher.submit(draft);
  }

  private async write(tx: Tx, drafts: ResponseDraft[]): Promise<Array<() => Task>> {
    const admission = await this.admission.open(tx);
    const verdicts = drafts.map((draft) => ({ draft, refusal: admission.admit(draft) }));
    const admitted = verdicts.filter(({ refusal }) => refusal === null).map(({ draft }) => draft);
    await this.store.insert(tx, admitted);
    const tasks = await this.lifecycle.enqueue(
      tx,
      admitted.map((draft) => this.taskDraft(draft)),
    );
    const byResponse = new Map(tasks.map((task) => [task.responseId, task]));
    return verdicts.map(
      ({ draft, refusal }) =>
        () =>
          accepted(byResponse.get(draft.body.id), refusal),
    );
  }

  private taskDraft({ clientId, body }: ResponseDraft): TaskDraft {
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
      view: { response: body },
    };
  }
}

function accepted(task: Task | undefined, refusal: DomainError | null): Task {
  if (refusal) throw refusal;
  if (!task) throw new Error('an admitted response has no task');
  return task;
}
