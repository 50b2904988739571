import type { ErrorBody } from '../errors/index.js';
import type { FinishReason, GenerationStep } from '../inference/index.js';
import { errorPayload, eventJson, type JsonObject, type LifecycleEvent, type StoredEvent } from '../tasks/index.js';
import { ResponseEvents } from './response-events.js';
import { closeOpenItems, foldOutput } from './response-fold.js';
import type { ResponseObject } from './response-object.js';
import type { ResponseDraft } from './response-store.js';

/**
 * The event log of a response that is not stored: the same events in the same order as a stored one's, numbered from
 * 0, with the same fold behind each snapshot, and nothing on disk.
 */
export class EphemeralLog {
  private body: ResponseObject;
  private readonly events: ResponseEvents;
  private readonly promptTokens: number;
  private next = 0;
  private outputTokens = 0;

  constructor({ body, generation }: ResponseDraft) {
    this.body = body;
    this.events = new ResponseEvents(body.id, 0);
    this.promptTokens = generation.promptIds.length;
  }

  /** The response as the events so far make it. */
  get response(): ResponseObject {
    return this.body;
  }

  /** Events 0 and 1. */
  created(): StoredEvent[] {
    return [this.lifecycle('response.created', {}), this.lifecycle('response.queued', {})];
  }

  progressed(taskStatus: 'loading' | 'running'): StoredEvent {
    const lmsp = { ...this.body.lmsp, task_status: taskStatus, attempt: 1 };
    return this.lifecycle('response.in_progress', { status: 'in_progress', lmsp });
  }

  step(step: GenerationStep): StoredEvent[] {
    this.outputTokens += 1;
    const events = this.events.next(step).map(({ type, payload }) => this.append(type, payload));
    const output = foldOutput(
      this.body.output,
      events.map((event) => event.payload),
    );
    this.body = { ...this.body, output };
    return events;
  }

  finished(finish: FinishReason): StoredEvent {
    const limited = finish === 'limit';
    return this.ended(limited ? 'response.incomplete' : 'response.completed', {
      status: limited ? 'incomplete' : 'completed',
      completed_at: limited ? null : Math.floor(Date.now() / 1000),
      incomplete_details: limited ? { reason: 'max_output_tokens' } : null,
      lmsp: { ...this.body.lmsp, task_status: 'completed' },
    });
  }

  failed(error: ErrorBody): StoredEvent[] {
    return [
      this.append('error', errorPayload(error)),
      this.ended('response.failed', {
        status: 'failed',
        error,
        output: closeOpenItems(this.body.output),
        lmsp: { ...this.body.lmsp, task_status: 'failed' },
      }),
    ];
  }

  private ended(type: LifecycleEvent, change: Partial<ResponseObject>): StoredEvent {
    const usage = {
      input_tokens: this.promptTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: this.outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: this.promptTokens + this.outputTokens,
    };
    return this.lifecycle(type, { ...change, usage });
  }

  private lifecycle(type: LifecycleEvent, change: Partial<ResponseObject>): StoredEvent {
    this.body = { ...this.body, ...change };
    return this.append(type, { response: this.body });
  }

  private append(type: string, payload: JsonObject): StoredEvent {
    const sequenceNumber = this.next++;
    return { sequenceNumber, type, payload: eventJson(type, sequenceNumber, payload) };
  }
}
