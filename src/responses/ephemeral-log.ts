import type { ErrorBody } from '../errors/index.js';
import type { FinishReason, GenerationStep } from '../inference/index.js';
import { errorPayload, eventJson, type JsonObject, type LifecycleEvent, type StoredEvent } from '../tasks/index.js';
import { ResponseEvents } from './response-events.js';
import { closeOpenItems, foldOutput } from './response-fold.js';
import type { OutputItem, ResponseObject } from './response-object.js';
import type { ResponseDraft } from './response-store.js';
import { usage } from './response-usage.js';

/**
 * The event log of a response that is not stored: the same events in the same order as a stored one's, numbered from
 * 0, with the same fold behind each snapshot, and nothing on disk.
 */
export class EphemeralLog {
  private body: ResponseObject;
  private readonly events: ResponseEvents;
  private readonly promptTokens: number;
  /** Of them those that were not computed again. */
  cachedTokens = 0;
  private next = 0;
  private outputTokens = 0;
  private reasoningTokens = 0;
  /** Events that the output of the body does not have yet. */
  private unfolded: string[] = [];

  constructor({ body, generation }: ResponseDraft) {
    this.body = body;
    this.events = new ResponseEvents(body.id, 0, generation.syntax);
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

  /** The output is at its end, whatever the model would write. */
  get ended(): boolean {
    return this.events.ended;
  }

  step(step: GenerationStep): StoredEvent[] {
    this.outputTokens += 1;
    const events = this.events.next(step).map(({ type, payload }) => this.append(type, payload));
    if (this.events.reasoning) this.reasoningTokens += 1;
    this.unfolded.push(...events.map((event) => event.payload));
    return events;
  }

  finished(finish: FinishReason): StoredEvent {
    const limited = finish === 'limit';
    return this.end(limited ? 'response.incomplete' : 'response.completed', {
      status: limited ? 'incomplete' : 'completed',
      completed_at: limited ? null : Math.floor(Date.now() / 1000),
      incomplete_details: limited ? { reason: 'max_output_tokens' } : null,
      lmsp: { ...this.body.lmsp, task_status: 'completed' },
    });
  }

  failed(error: ErrorBody): StoredEvent[] {
    return [
      this.append('error', errorPayload(error)),
      this.end('response.failed', {
        status: 'failed',
        error,
        output: closeOpenItems(this.output()),
        lmsp: { ...this.body.lmsp, task_status: 'failed' },
      }),
    ];
  }

  private end(type: LifecycleEvent, change: Partial<ResponseObject>): StoredEvent {
    return this.lifecycle(type, {
      ...change,
      usage: usage({
        input: this.promptTokens,
        cached: this.cachedTokens,
        output: this.outputTokens,
        reasoning: this.reasoningTokens,
      }),
    });
  }

  private lifecycle(type: LifecycleEvent, change: Partial<ResponseObject>): StoredEvent {
    this.body = { ...this.body, output: this.output(), ...change };
    this.unfolded = [];
    return this.append(type, { response: this.body });
  }

  private output(): OutputItem[] {
    return foldOutput(this.body.output, this.unfolded);
  }

  private append(type: string, payload: JsonObject): StoredEvent {
    const sequenceNumber = this.next++;
    return { sequenceNumber, type, payload: eventJson(type, sequenceNumber, payload) };
  }
}
