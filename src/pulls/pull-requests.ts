import { Inject, Injectable } from '@nestjs/common';
import { AuditLog, type Origin } from '../audit/index.js';
import { CONFIG, type Config } from '../config/index.js';
import { newIdentifier, type Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import type { KeyedRequest } from '../http/index.js';
import {
  IdempotencyKeys,
  TaskLifecycleService,
  taskPayload,
  TaskQueries,
  type AcceptedTask,
  type Task,
  type TaskDraft,
} from '../tasks/index.js';
import { inputOf, PULL_TASK_TYPE, storedInput, type PullInput } from './pull-input.js';

export interface PullRequest {
  clientId: string;
  input: PullInput;
  keyed: KeyedRequest | null;
  origin: Origin;
}

const RETRY_SECONDS = 60;

/** Makes pulls durable: the task, its events 0 and 1 and its key are one unit (R1, R2). */
@Injectable()
export class PullRequests {
  constructor(
    private readonly lifecycle: TaskLifecycleService,
    private readonly queries: TaskQueries,
    private readonly keys: IdempotencyKeys,
    private readonly audit: AuditLog,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Inside a unit. Throws pull_in_progress, queue_full, idempotency_key_reused. */
  async accept(tx: Tx, request: PullRequest): Promise<AcceptedTask> {
    const { clientId, keyed, origin } = request;
    const holders = await this.keys.holders(tx, keyed ? [keyed] : []);
    const holder = keyed ? holders.of(keyed) : null;
    if (holder instanceof DomainError) throw holder;
    const first = holder === null ? undefined : holders.tasks.get(holder);
    if (first) return { task: first, repeated: true };
    this.admit(request.input, await this.queries.unfinished(tx, PULL_TASK_TYPE));
    const [task] = await this.lifecycle.enqueue(tx, [this.draft(request)]);
    if (!task) throw new Error('a pull has no task');
    const { repository, revision, id, dtype } = request.input;
    const detail = { repository, revision, model: id, dtype, client: clientId };
    await this.audit.record(tx, { action: 'model.pull', object: task.id, origin, detail });
    return { task, repeated: false };
  }

  /** Two pulls of a repository would write to the same files, and two of one name could not both keep it. */
  private admit({ repository, id }: PullInput, unfinished: readonly Task[]): void {
    const other = unfinished.find((task) => {
      const input = inputOf(task);
      return input.repository === repository || input.id === id;
    });
    if (other) throw inProgress(other);
    const { maxWaitingPulls } = this.config;
    if (unfinished.length < maxWaitingPulls) return;
    throw new DomainError('queue_full', `${maxWaitingPulls} pulls are under way or wait; send it again later.`, {
      retryAfterSeconds: RETRY_SECONDS,
    });
  }

  private draft({ clientId, input, keyed }: PullRequest): TaskDraft {
    return {
      id: newIdentifier('task'),
      type: PULL_TASK_TYPE,
      clientId,
      responseId: null,
      model: null,
      onRestart: 'resume',
      background: true,
      input: storedInput(input),
      metadata: {},
      maxInterruptions: this.config.maxInterruptions,
      view: (task) => taskPayload(task, this.config),
      ...(keyed && { keyed }),
    };
  }
}

function inProgress(task: Task): DomainError {
  const { repository, id } = inputOf(task);
  const message = `The task ${task.id} pulls ${repository} as '${id}' already; follow it, or cancel it first.`;
  return new DomainError('pull_in_progress', message, { param: 'repository' });
}
