import { Injectable } from '@nestjs/common';
import { UnitOfWork, type Tx } from '../database/index.js';
import type { DomainError } from '../errors/index.js';
import { AdmissionControl } from '../tasks/index.js';
import { RESPONSE_TASK_TYPE } from './response-handler.js';
import type { ResponseDraft } from './response-store.js';

/** Asks the admission policy about responses, be they stored or not. */
@Injectable()
export class WorkAdmission {
  constructor(
    private readonly control: AdmissionControl,
    private readonly units: UnitOfWork,
  ) {}

  /** For one that is about to be stored in this unit; null: it is let in. */
  async refusal(tx: Tx, { clientId, body, generation }: ResponseDraft): Promise<DomainError | null> {
    if (this.control.isOpen) return null;
    return this.control.refusal(tx, {
      clientId,
      taskType: RESPONSE_TASK_TYPE,
      model: body.model,
      background: body.background,
      stored: body.store,
      inputTokens: generation.promptIds.length,
      maxOutputTokens: generation.maxOutputTokens,
    });
  }

  /** For one that leaves nothing behind but what the policy counts. Throws rate_limit_exceeded. */
  async requireUnstored(draft: ResponseDraft): Promise<void> {
    if (this.control.isOpen) return;
    const refusal = await this.units.run((tx) => this.refusal(tx, draft));
    if (refusal) throw refusal;
  }
}
