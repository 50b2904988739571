import { Injectable } from '@nestjs/common';
import { UnitOfWork, type Tx } from '../database/index.js';
import { DomainError, ServiceStopping } from '../errors/index.js';
import { IdempotencyKeys, QueueLimits, TaskRunner, type Task } from '../tasks/index.js';
import { missingOf, previousNotFound } from './conversations.js';
import { taskIdOf, type ResponseDraft } from './response-store.js';
import { WorkAdmission } from './work-admission.js';

/** What becomes of a request: the task that it makes, the task that the first with its key made, or a refusal. */
export type Verdict = { taskId: string; repeated: boolean } | DomainError;

/** Who may still join the queue. */
export interface Admission {
  /** The tasks on disk that the keys of the requests belong to, by id. */
  readonly repeated: ReadonlyMap<string, Task>;
  /**
   * Decides requests in order, each knowing those before it; counts the client's task in. Refusals: queue_full,
   * server_shutting_down, idempotency_key_reused, previous_response_not_found, item_not_found, and rate_limit_exceeded
   * of the admission policy, which is asked last.
   */
  admit(draft: ResponseDraft): Promise<Verdict>;
}

/**
 * A request whose key has a task already makes no other (WIRE B6). The others are bounded, in all and per client (429
 * queue_full). Once nothing is claimed any more, foreground work is refused: the stop has failed what waited of it, and
 * nobody would answer a later one.
 */
@Injectable()
export class ResponseAdmission {
  constructor(
    private readonly limits: QueueLimits,
    private readonly keys: IdempotencyKeys,
    private readonly runner: TaskRunner,
    private readonly units: UnitOfWork,
    private readonly work: WorkAdmission,
  ) {}

  /** Throws storage_full while the little room there is belongs to the work under way. */
  requireRoom(): Promise<void> {
    return this.units.requireRoom();
  }

  /** For one unit: looked up and counted inside it, so that creates at the same moment cannot all be the first or last. */
  async open(tx: Tx, drafts: ResponseDraft[]): Promise<Admission> {
    const holders = await this.keys.holders(
      tx,
      drafts.flatMap(({ keyed }) => keyed ?? []),
    );
    const missing = await missingOf(
      tx,
      drafts.flatMap(({ references }) => references),
    );
    const limit = await this.limit(tx);
    return {
      repeated: holders.tasks,
      admit: async (draft) => {
        const { keyed } = draft;
        const holder = keyed ? holders.of(keyed) : null;
        if (holder instanceof DomainError) return holder;
        if (holder !== null) return { taskId: holder, repeated: true };
        const refusal = goneReference(draft, missing) ?? limit(draft) ?? (await this.work.refusal(tx, draft));
        if (refusal) return refusal;
        const taskId = taskIdOf(draft.body.id);
        if (keyed) holders.hold(keyed, taskId);
        return { taskId, repeated: false };
      },
    };
  }

  private async limit(tx: Tx): Promise<(draft: ResponseDraft) => DomainError | null> {
    const places = await this.limits.open(tx);
    return ({ clientId, body }) =>
      this.runner.isStopped && !body.background ? new ServiceStopping() : places(clientId);
  }
}

/** What the prompt was made of may have been deleted since. */
function goneReference({ references, body }: ResponseDraft, missing: ReadonlySet<string>): DomainError | null {
  const gone = references.find((id) => missing.has(id));
  if (gone === undefined) return null;
  const { previous_response_id: previous } = body;
  return previous === null
    ? new DomainError('item_not_found', 'An item of the input is no longer stored.', { param: 'input' })
    : previousNotFound(previous, gone);
}
