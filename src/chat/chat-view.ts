import type { ResponseObject } from '../responses/index.js';
import { completionId, endOf, SYSTEM_FINGERPRINT, usageOf, type CompletionView } from './completion-view.js';
import type { ReadItem, ResponseEvent, TextLogprob } from './response-event.js';

export interface ChatToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

interface ChatMessage {
  role: 'assistant';
  content: string | null;
  refusal: null;
  reasoning_content?: string;
  tool_calls?: ChatToolCall[];
}

interface ToolCallDelta {
  index: number;
  id?: string;
  type?: 'function';
  function: { name?: string; arguments: string };
}

interface ChatDelta {
  role?: 'assistant';
  content?: string;
  refusal?: null;
  reasoning_content?: string;
  tool_calls?: ToolCallDelta[];
}

type Logprobs = { content: TextLogprob[]; refusal: null } | null;
type FinishReason = 'stop' | 'length' | 'tool_calls';

/** A response as Chat Completions has it (WIRE B7, WIRE-FACTS A8). */
export class ChatView implements CompletionView {
  private begun = false;
  /** Place among the calls, by place in the output. */
  private readonly calls = new Map<number, number>();

  /** `usage`: a last chunk tells it. */
  constructor(
    private readonly response: ResponseObject,
    private readonly usage: boolean,
  ) {}

  whole(response: ResponseObject): object {
    const { output } = response;
    const logprobs = logprobsOf(contentOf(output).flatMap((part) => (part.logprobs ?? []) as TextLogprob[]));
    const choice = { index: 0, message: messageOf(output), logprobs, finish_reason: finishOf(response) };
    return { ...this.head('chat.completion'), choices: [choice], usage: usageOf(response) };
  }

  chunks(event: ResponseEvent): object[] {
    const end = endOf(event);
    if (end) return [...this.beginning(), this.chunk({}, null, finishOf(end)), ...this.lastWords(end)];
    const delta = this.delta(event);
    return delta ? [...this.beginning(), this.chunk(delta, logprobsOf(event.logprobs ?? []), null)] : [];
  }

  private delta({ type, delta, item, output_index: at = 0 }: ResponseEvent): ChatDelta | null {
    switch (type) {
      case 'response.output_text.delta':
        return { content: delta ?? '' };
      case 'response.reasoning_summary_text.delta':
        return { reasoning_content: delta ?? '' };
      case 'response.output_item.added':
        return item?.type === 'function_call' ? this.callBegun(item, at) : null;
      case 'response.function_call_arguments.delta':
        return { tool_calls: [{ index: this.calls.get(at) ?? 0, function: { arguments: delta ?? '' } }] };
      default:
        return null;
    }
  }

  private callBegun(item: ReadItem, at: number): ChatDelta {
    const index = this.calls.size;
    this.calls.set(at, index);
    return { tool_calls: [{ index, ...callOf({ ...item, arguments: '' }) }] };
  }

  /** The first chunk says who speaks. */
  private beginning(): object[] {
    if (this.begun) return [];
    this.begun = true;
    return [this.chunk({ role: 'assistant', content: '', refusal: null }, null, null)];
  }

  private lastWords(end: ResponseObject): object[] {
    return this.usage ? [{ ...this.head('chat.completion.chunk'), choices: [], usage: usageOf(end) }] : [];
  }

  private chunk(delta: ChatDelta, logprobs: Logprobs, finish: FinishReason | null): object {
    const choices = [{ index: 0, delta, logprobs, finish_reason: finish }];
    return { ...this.head('chat.completion.chunk'), choices, ...(this.usage && { usage: null }) };
  }

  private head(object: 'chat.completion' | 'chat.completion.chunk'): object {
    const { created_at: created, model, service_tier } = this.response;
    const id = completionId('chatcmpl', this.response);
    return { id, object, created, model, service_tier, system_fingerprint: SYSTEM_FINGERPRINT };
  }
}

function messageOf(output: readonly ReadItem[]): ChatMessage {
  const texts = contentOf(output).map(({ text = '' }) => text);
  const reasoning = output.flatMap(({ type, summary = [] }) => (type === 'reasoning' ? summary : []));
  const calls = callsIn(output).map(callOf);
  const content = texts.join('');
  return {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    refusal: null,
    ...(reasoning.length > 0 && { reasoning_content: reasoning.map(({ text = '' }) => text).join('') }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function contentOf(output: readonly ReadItem[]): NonNullable<ReadItem['content']> {
  return output.flatMap(({ type, content = [] }) => (type === 'message' ? content : []));
}

function callsIn(output: readonly ReadItem[]): ReadItem[] {
  return output.filter(({ type }) => type === 'function_call');
}

function callOf({ call_id: id = '', name = '', arguments: given = '' }: ReadItem): ChatToolCall {
  return { id, type: 'function', function: { name, arguments: given } };
}

function finishOf({ status, output }: ResponseObject): FinishReason {
  if (status === 'incomplete') return 'length';
  return callsIn(output).length > 0 ? 'tool_calls' : 'stop';
}

function logprobsOf(content: TextLogprob[]): Logprobs {
  return content.length > 0 ? { content, refusal: null } : null;
}
