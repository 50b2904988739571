import { createHash } from 'node:crypto';
import type { FinishReason } from '../inference/index.js';
import type { EventDraft } from '../tasks/index.js';
import type { OutputMessage, OutputTextPart } from './response-object.js';

/** What one generated token adds to the answer. */
export interface TextStep {
  text: string;
  finish: FinishReason | null;
}

/**
 * Turns the steps of one start into events: a pure function of the response id, the start count and the steps
 * (invariant 11). One message with one text part; one delta for each step that yields text.
 */
export class ResponseEvents {
  private readonly itemId: string;
  private text = '';
  private open = false;

  constructor(responseId: string, startCount: number) {
    this.itemId = itemIdentifier('msg', responseId, startCount, 0);
  }

  /** The events of the next step, perhaps none. */
  next(step: TextStep): EventDraft[] {
    const events: EventDraft[] = [];
    if (!this.open) {
      this.open = true;
      events.push(this.event('response.output_item.added', { item: this.message('in_progress', []) }));
      events.push(this.event('response.content_part.added', { ...this.place(), part: textPart('') }));
    }
    if (step.text !== '') {
      this.text += step.text;
      events.push(this.event('response.output_text.delta', { ...this.place(), delta: step.text, logprobs: [] }));
    }
    if (step.finish !== null) events.push(...this.close(step.finish));
    return events;
  }

  private close(finish: FinishReason): EventDraft[] {
    const part = textPart(this.text);
    const status = finish === 'stop' ? 'completed' : 'incomplete';
    return [
      this.event('response.output_text.done', { ...this.place(), text: this.text, logprobs: [] }),
      this.event('response.content_part.done', { ...this.place(), part }),
      this.event('response.output_item.done', { item: this.message(status, [part]) }),
    ];
  }

  private event(type: string, payload: Record<string, unknown>): EventDraft {
    return { type, payload: { output_index: 0, ...payload } };
  }

  private place(): { item_id: string; content_index: number } {
    return { item_id: this.itemId, content_index: 0 };
  }

  private message(status: OutputMessage['status'], content: OutputTextPart[]): OutputMessage {
    return { id: this.itemId, type: 'message', status, role: 'assistant', content };
  }
}

function textPart(text: string): OutputTextPart {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

/**
 * Ids of items are derived, not drawn: a resumed start names the same items, a new one others (WIRE B0). 26
 * characters of a SHA-256 in hexadecimal.
 */
export function itemIdentifier(kind: string, responseId: string, startCount: number, outputIndex: number): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([responseId, startCount, outputIndex, kind]))
    .digest('hex');
  return `${kind}_${digest.slice(0, 26)}`;
}
