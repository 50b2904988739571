import { Injectable } from '@nestjs/common';
import type { Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';

/** Work that asks to be let in. */
export interface AdmissionRequest {
  /** Id of the client that asks. */
  readonly clientId: string;
  /** `response`, or a task type of an extension. */
  readonly taskType: string;
  /** Id of the model; null where the type has none. */
  readonly model: string | null;
  readonly background: boolean;
  /** False: the work leaves no task behind (`store: false`, chat completions). */
  readonly stored: boolean;
  /** Tokens of the prompt, and the most that the answer may have; 0 where no model is asked. */
  readonly inputTokens: number;
  readonly maxOutputTokens: number;
}

export interface AdmissionRefusal {
  /** What the caller is told. */
  readonly message: string;
  /** When it may try again. */
  readonly retryAfterSeconds: number;
}

/**
 * Strategy: whether work is let in, beyond the bounds of the queue. Asked once for each request, before it is accepted and
 * inside the transaction that accepts it, so that what it counts is on disk exactly where the work is.
 */
export interface AdmissionPolicy {
  /**
   * Null lets it in; a refusal is 429 rate_limit_exceeded with Retry-After. Database calls only. Decide before you write: many
   * requests share the transaction, and what was written before a refusal stays. What it throws fails this request alone.
   */
  admit(tx: Tx, request: AdmissionRequest): Promise<AdmissionRefusal | null>;
}

/** The admission policy that is in use; without one all work is let in. */
@Injectable()
export class AdmissionControl {
  private policy: AdmissionPolicy | null = null;

  use(policy: AdmissionPolicy): void {
    this.policy = policy;
  }

  /** Whether there is anything to ask. */
  get isOpen(): boolean {
    return this.policy === null;
  }

  /** The refusal, or null. */
  async refusal(tx: Tx, request: AdmissionRequest): Promise<DomainError | null> {
    const refusal = await this.policy?.admit(tx, request);
    if (!refusal) return null;
    const { message, retryAfterSeconds } = refusal;
    return new DomainError('rate_limit_exceeded', message, {
      retryAfterSeconds: Math.max(1, Math.ceil(retryAfterSeconds)),
    });
  }
}
