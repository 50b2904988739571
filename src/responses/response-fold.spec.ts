import { describe, expect, it } from 'vitest';
import { closeOpenItems, foldOutput } from './response-fold.js';
import type { ItemStatus, OutputMessage } from './response-object.js';

function message(id: string, text: string, status: ItemStatus = 'in_progress'): OutputMessage {
  const part = { type: 'output_text' as const, text, annotations: [], logprobs: [] };
  return { id, type: 'message', role: 'assistant', status, content: [part] };
}

function delta(text: string): string {
  return JSON.stringify({
    type: 'response.output_text.delta',
    output_index: 0,
    content_index: 0,
    item_id: 'msg_1',
    delta: text,
  });
}

describe('the fold', () => {
  it('does not touch the output it was given', () => {
    const before = [message('msg_1', 'Hel')];
    expect(foldOutput(before, [delta('lo')])).toEqual([message('msg_1', 'Hello')]);
    expect(before).toEqual([message('msg_1', 'Hel')]);
  });

  it('invariant 7: a snapshot among the events replaces what came before', () => {
    const snapshot = (output: OutputMessage[]) => JSON.stringify({ type: 'response.queued', response: { output } });
    expect(foldOutput([message('msg_1', 'first start')], [delta('!'), snapshot([])])).toEqual([]);
    const resumed = [snapshot([message('msg_1', 'Hel')]), delta('lo')];
    expect(foldOutput([message('msg_0', 'other')], resumed)).toEqual([message('msg_1', 'Hello')]);
  });

  it('passes over events that say nothing about items', () => {
    const error = JSON.stringify({ type: 'error', code: 'model_error', message: 'NaN', param: null });
    const done = JSON.stringify({ type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'Hel' });
    expect(foldOutput([message('msg_1', 'Hel')], [error, done])).toEqual([message('msg_1', 'Hel')]);
  });

  it('says so when a log speaks of an item before adding it', () => {
    expect(() => foldOutput([], [delta('lo')])).toThrow('before adding it');
  });

  it('invariant 10: items that are still open when the response ends become incomplete, the others stay', () => {
    const output = [message('msg_1', 'a', 'completed'), message('msg_2', 'b')];
    expect(closeOpenItems(output).map(({ status }) => status)).toEqual(['completed', 'incomplete']);
    expect(output[1]?.status).toBe('in_progress');
  });
});
