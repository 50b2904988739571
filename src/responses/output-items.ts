import { createHash } from 'node:crypto';
import type { EventDraft } from '../tasks/index.js';
import type { ItemStatus, OutputItem, OutputLogprob, OutputTextPart } from './response-object.js';

/** One item being written: its events, each once and in order (WIRE B5 invariant 5). */
export interface OpenItem {
  readonly kind: 'message' | 'reasoning' | 'function_call';
  /** The events that begin it. */
  opened(): EventDraft[];
  append(text: string, logprobs: OutputLogprob[]): EventDraft[];
  closed(status: ItemStatus): EventDraft[];
  /** Takes over what readers have seen of it and tokens alone do not tell. */
  adopt(seen: OutputItem | undefined): void;
}

interface Place {
  id: string;
  index: number;
}

export class OpenMessage implements OpenItem {
  readonly kind = 'message';
  private text = '';
  private logprobs: OutputLogprob[] = [];

  constructor(private readonly at: Place) {}

  opened(): EventDraft[] {
    return [
      added(this.at, this.item('in_progress', [])),
      event('response.content_part.added', this.at, { content_index: 0, part: this.part('', []) }),
    ];
  }

  append(delta: string, logprobs: OutputLogprob[]): EventDraft[] {
    this.text += delta;
    this.logprobs.push(...logprobs);
    return [event('response.output_text.delta', this.at, { content_index: 0, delta, logprobs })];
  }

  closed(status: ItemStatus): EventDraft[] {
    const { text, logprobs } = this;
    const part = this.part(text, logprobs);
    return [
      event('response.output_text.done', this.at, { content_index: 0, text, logprobs }),
      event('response.content_part.done', this.at, { content_index: 0, part }),
      done(this.at, this.item(status, [part])),
    ];
  }

  adopt(seen: OutputItem | undefined): void {
    if (seen?.type === 'message') this.logprobs = [...(seen.content[0]?.logprobs ?? [])];
  }

  private item(status: ItemStatus, content: OutputTextPart[]): OutputItem {
    return { id: this.at.id, type: 'message', status, role: 'assistant', content };
  }

  private part(text: string, logprobs: OutputLogprob[]): OutputTextPart {
    return { type: 'output_text', text, annotations: [], logprobs };
  }
}

export class OpenReasoning implements OpenItem {
  readonly kind = 'reasoning';
  private text = '';

  constructor(private readonly at: Place) {}

  opened(): EventDraft[] {
    const part = { type: 'summary_text', text: '' };
    return [
      added(this.at, { id: this.at.id, type: 'reasoning', status: 'in_progress', summary: [] }),
      event('response.reasoning_summary_part.added', this.at, { summary_index: 0, part }),
    ];
  }

  append(delta: string): EventDraft[] {
    this.text += delta;
    return [event('response.reasoning_summary_text.delta', this.at, { summary_index: 0, delta })];
  }

  closed(status: ItemStatus): EventDraft[] {
    const { text } = this;
    const part = { type: 'summary_text' as const, text };
    return [
      event('response.reasoning_summary_text.done', this.at, { summary_index: 0, text }),
      event('response.reasoning_summary_part.done', this.at, { summary_index: 0, part }),
      done(this.at, { id: this.at.id, type: 'reasoning', status, summary: [part] }),
    ];
  }

  adopt(): void {
    // Its tokens tell all of it.
  }
}

export class OpenCall implements OpenItem {
  readonly kind = 'function_call';
  private text = '';

  constructor(
    private readonly at: Place,
    private readonly call: { id: string; name: string },
  ) {}

  opened(): EventDraft[] {
    return [added(this.at, this.item('in_progress'))];
  }

  append(delta: string): EventDraft[] {
    this.text += delta;
    return [event('response.function_call_arguments.delta', this.at, { delta })];
  }

  closed(status: ItemStatus): EventDraft[] {
    const { name } = this.call;
    return [
      event('response.function_call_arguments.done', this.at, { name, arguments: this.text }),
      done(this.at, this.item(status)),
    ];
  }

  adopt(): void {
    // Its tokens tell all of it.
  }

  private item(status: ItemStatus): OutputItem {
    const { id, name } = this.call;
    return { id: this.at.id, type: 'function_call', status, call_id: id, name, arguments: this.text };
  }
}

function added({ index }: Place, item: OutputItem): EventDraft {
  return { type: 'response.output_item.added', payload: { output_index: index, item } };
}

function done({ index }: Place, item: OutputItem): EventDraft {
  return { type: 'response.output_item.done', payload: { output_index: index, item } };
}

function event(type: string, { id, index }: Place, payload: Record<string, unknown>): EventDraft {
  return { type, payload: { output_index: index, item_id: id, ...payload } };
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
