import type { ResponseObject } from '../responses/index.js';
import { completionId, endOf, SYSTEM_FINGERPRINT, usageOf, type CompletionView } from './completion-view.js';
import type { ReadItem, ResponseEvent } from './response-event.js';

type FinishReason = 'stop' | 'length';

/** A response as the older Completions endpoint has it: text that goes on from a prompt. */
export class TextView implements CompletionView {
  /** `usage`: a last chunk tells it. */
  constructor(
    private readonly response: ResponseObject,
    private readonly usage: boolean,
  ) {}

  whole(response: ResponseObject): object {
    const choices = [choiceOf(textOf(response.output), finishOf(response))];
    return { ...this.head(), choices, usage: usageOf(response) };
  }

  chunks(event: ResponseEvent): object[] {
    if (event.type === 'response.output_text.delta') return [this.chunk(event.delta ?? '', null)];
    const end = endOf(event);
    if (!end) return [];
    const usage = this.usage ? [{ ...this.head(), choices: [], usage: usageOf(end) }] : [];
    return [this.chunk('', finishOf(end)), ...usage];
  }

  private chunk(text: string, finish: FinishReason | null): object {
    return { ...this.head(), choices: [choiceOf(text, finish)], ...(this.usage && { usage: null }) };
  }

  private head(): object {
    const { created_at: created, model } = this.response;
    const id = completionId('cmpl', this.response);
    return { id, object: 'text_completion', created, model, system_fingerprint: SYSTEM_FINGERPRINT };
  }
}

function choiceOf(text: string, finish: FinishReason | null): object {
  return { index: 0, text, logprobs: null, finish_reason: finish };
}

function textOf(output: readonly ReadItem[]): string {
  return output.flatMap(({ content = [] }) => content.map(({ text = '' }) => text)).join('');
}

function finishOf({ status }: ResponseObject): FinishReason {
  return status === 'incomplete' ? 'length' : 'stop';
}
