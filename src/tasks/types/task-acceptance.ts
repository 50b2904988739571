import { Injectable } from '@nestjs/common';
import type { Tx } from '../../database/index.js';
import { DomainError } from '../../errors/index.js';
import type { AcceptedTask } from '../accepted-tasks.js';
import { AdmissionControl, type AdmissionRequest } from '../admission-policy.js';
import { TaskUnits } from '../hooks/task-units.js';
import { IdempotencyKeys } from '../idempotency-keys.js';
import { QueueLimits } from '../queue-limits.js';
import type { TaskDraft } from '../task-drafts.js';
import { TaskLifecycleService } from '../task-lifecycle.service.js';

/** Makes tasks of extensions durable: the task, its events 0 and 1 and its key are one unit (R1, R2). */
@Injectable()
export class TaskAcceptance {
  constructor(
    private readonly units: TaskUnits,
    private readonly lifecycle: TaskLifecycleService,
    private readonly keys: IdempotencyKeys,
    private readonly limits: QueueLimits,
    private readonly admission: AdmissionControl,
  ) {}

  /** Resolves once the task is on disk. Throws queue_full, rate_limit_exceeded, idempotency_key_reused, storage_busy, storage_full. */
  async accept(draft: TaskDraft): Promise<AcceptedTask> {
    await this.units.requireRoom();
    return this.units.run((tx) => this.write(tx, draft), { kind: 'accept', operations: () => 1 });
  }

  private async write(tx: Tx, draft: TaskDraft): Promise<AcceptedTask> {
    const { keyed } = draft;
    const holders = await this.keys.holders(tx, keyed ? [keyed] : []);
    const holder = keyed ? holders.of(keyed) : null;
    if (holder instanceof DomainError) throw holder;
    const first = holder === null ? undefined : holders.tasks.get(holder);
    if (first) return { task: first, repeated: true };
    const places = await this.limits.open(tx);
    const refusal = places(draft.clientId) ?? (await this.admission.refusal(tx, admissionRequest(draft)));
    if (refusal) throw refusal;
    const [task] = await this.lifecycle.enqueue(tx, [draft]);
    if (!task) throw new Error('a draft has no task');
    return { task, repeated: false };
  }
}

function admissionRequest({ clientId, type, model, background }: TaskDraft): AdmissionRequest {
  return { clientId, taskType: type, model, background, stored: true, inputTokens: 0, maxOutputTokens: 0 };
}
