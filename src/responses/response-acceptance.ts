import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { Batcher, type Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { TaskLifecycleService, TaskUnits, type Task, type TaskDraft } from '../tasks/index.js';
import { ResponseAdmission, type Verdict } from './response-admission.js';
import { RESPONSE_TASK_TYPE } from './response-handler.js';
import { ResponseStore, taskIdOf, type ResponseDraft } from './response-store.js';

/** The task of a request: made for it, or for the first with its key. */
export interface Accepted {
  task: Task;
  repeated: boolean;
}

/**
 * Makes responses durable: response, task and events 0 and 1 in one unit, many requests to a commit (R1, R2). What was
 * accepted here is on disk before anybody is told.
 */
@Injectable()
export class ResponseAcceptance {
  private readonly batcher: Batcher<ResponseDraft, Accepted>;

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
      run: (tx, drafts: ResponseDraft[]) => this.write(tx, drafts),
    });
  }

  /**
   * Resolves once the task is committed. Throws queue_full, storage_busy, storage_full, server_shutting_down,
   * idempotency_key_reused, previous_response_not_found, item_not_found, rate_limit_exceeded.
   */
  async accept(draft: ResponseDraft): Promise<Accepted> {
    await this.admission.requireRoom();
    return this.batcher.submit(draft);
  }

  private async write(tx: Tx, drafts: ResponseDraft[]): Promise<Array<() => Accepted>> {
    const admission = await this.admission.open(tx, drafts);
    const verdicts: { draft: ResponseDraft; verdict: Verdict }[] = [];
    for (const draft of drafts) {
      verdicts.push({ draft, verdict: this.refusalOf(tx, draft) ?? (await admission.admit(draft)) });
    }
    const admitted = verdicts.filter(({ verdict }) => isNew(verdict)).map(({ draft }) => draft);
    await this.store.insert(tx, admitted);
    const made = await this.lifecycle.enqueue(
      tx,
      admitted.map((draft) => this.taskDraft(draft)),
    );
    const tasks = new Map([...admission.repeated, ...made.map((task) => [task.id, task] as const)]);
    return verdicts.map(
      ({ verdict }) =>
        () =>
          accepted(verdict, tasks),
    );
  }

  /** One whose task cannot be recorded takes no other of the commit with it. */
  private refusalOf(tx: Tx, { body }: ResponseDraft): DomainError | null {
    return this.lifecycle.refusalOf(tx, taskIdOf(body.id));
  }

  private taskDraft({ clientId, body, keyed }: ResponseDraft): TaskDraft {
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
      ...(keyed && { keyed }),
    };
  }
}

function isNew(verdict: Verdict): boolean {
  return !(verdict instanceof DomainError) && !verdict.repeated;
}

function accepted(verdict: Verdict, tasks: ReadonlyMap<string, Task>): Accepted {
  if (verdict instanceof DomainError) throw verdict;
  const task = tasks.get(verdict.taskId);
  if (!task) throw new Error('an admitted response has no task');
  return { task, repeated: verdict.repeated };
}
