import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventDraft } from '../tasks/index.js';
import { itemIdentifier } from './output-items.js';
import { ResponseEvents, type TextStep } from './response-events.js';
import { foldOutput } from './response-fold.js';
import type { OutputMessage } from './response-object.js';

const anyStart = fc.record({
  texts: fc.array(fc.oneof(fc.constant(''), fc.string({ unit: 'grapheme' })), { minLength: 1, maxLength: 12 }),
  finish: fc.constantFrom('stop' as const, 'limit' as const),
});

function stepsOf({ texts, finish }: { texts: string[]; finish: 'stop' | 'limit' }): TextStep[] {
  return texts.map((text, i) => ({ text, finish: i === texts.length - 1 ? finish : null }));
}

function run(steps: TextStep[], responseId = 'resp_1', startCount = 0): EventDraft[] {
  const events = new ResponseEvents(responseId, startCount);
  return steps.flatMap((step) => events.next(step));
}

function payloads(events: EventDraft[]): string[] {
  return events.map(({ type, payload }, i) => JSON.stringify({ type, sequence_number: i, ...payload }));
}

function types(events: EventDraft[]): string[] {
  return events.map(({ type }) => type.replace('response.', ''));
}

describe('the events of one start', () => {
  it('WIRE B5: one message with one text part, one delta for each step that yields text', () => {
    const events = run([
      { text: 'Hel', finish: null },
      { text: '', finish: null },
      { text: 'lo', finish: 'stop' },
    ]);
    expect(types(events)).toEqual([
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
    ]);
    const id = itemIdentifier('msg', 'resp_1', 0, 0);
    expect(events[2]?.payload).toEqual({ output_index: 0, item_id: id, content_index: 0, delta: 'Hel', logprobs: [] });
    expect(events[4]?.payload).toEqual({ output_index: 0, item_id: id, content_index: 0, text: 'Hello', logprobs: [] });
  });

  it('CASES BL-23: an end token as the first one gives an empty, completed message', () => {
    const events = run([{ text: '', finish: 'stop' }]);
    expect(types(events)).not.toContain('output_text.delta');
    const item = events.at(-1)?.payload['item'] as OutputMessage;
    expect(item).toMatchObject({ status: 'completed', content: [{ type: 'output_text', text: '' }] });
  });

  it.each([
    ['stop', 'completed'],
    ['limit', 'incomplete'],
  ] as const)('invariant 10: a message that ends by %s is done with status %s', (finish, status) => {
    const events = run([{ text: 'Hello', finish }]);
    expect((events.at(-1)?.payload['item'] as OutputMessage).status).toBe(status);
  });

  it('invariant 5: the part is added before its deltas, each is done once, and nothing follows the done of the item', () => {
    fc.assert(
      fc.property(anyStart, (start) => {
        const sequence = types(run(stepsOf(start))).filter((type) => type !== 'output_text.delta');
        expect(sequence).toEqual([
          'output_item.added',
          'content_part.added',
          'output_text.done',
          'content_part.done',
          'output_item.done',
        ]);
      }),
    );
  });

  it('invariant 6: joined deltas = text done = part = item = the folded output', () => {
    fc.assert(
      fc.property(anyStart, (start) => {
        const events = run(stepsOf(start));
        const of = (type: string) => events.filter((event) => event.type === `response.${type}`);
        const text = start.texts.join('');
        expect(
          of('output_text.delta')
            .map(({ payload }) => payload['delta'])
            .join(''),
        ).toBe(text);
        expect(of('output_text.done')[0]?.payload['text']).toBe(text);
        expect(of('content_part.done')[0]?.payload['part']).toMatchObject({ text });
        const [item] = foldOutput([], payloads(events));
        expect(item).toEqual(of('output_item.done')[0]?.payload['item']);
        expect((item as OutputMessage).content[0]?.text).toBe(text);
      }),
    );
  });

  it('invariant 6: the fold may stop anywhere and go on from there', () => {
    fc.assert(
      fc.property(anyStart, fc.nat(), (start, cut) => {
        const all = payloads(run(stepsOf(start)));
        const at = cut % (all.length + 1);
        expect(foldOutput(foldOutput([], all.slice(0, at)), all.slice(at))).toEqual(foldOutput([], all));
      }),
    );
  });

  it('invariant 11: the same steps give the same events, byte for byte', () => {
    fc.assert(
      fc.property(anyStart, fc.nat(9), (start, startCount) => {
        const steps = stepsOf(start);
        const once = payloads(run(steps, 'resp_1', startCount));
        expect(payloads(run(structuredClone(steps), 'resp_1', startCount))).toEqual(once);
      }),
    );
  });
});

describe('ids of items', () => {
  it('WIRE B0: a resumed start names the same items, a new start others', () => {
    expect(itemIdentifier('msg', 'resp_1', 0, 0)).toBe(itemIdentifier('msg', 'resp_1', 0, 0));
    const others = [
      itemIdentifier('msg', 'resp_1', 0, 0),
      itemIdentifier('msg', 'resp_1', 1, 0),
      itemIdentifier('msg', 'resp_1', 0, 1),
      itemIdentifier('msg', 'resp_2', 0, 0),
      itemIdentifier('rs', 'resp_1', 0, 0),
    ];
    expect(new Set(others.map((id) => id.slice(id.indexOf('_')))).size).toBe(others.length);
  });

  it('has the form of every other id', () => {
    expect(itemIdentifier('msg', 'resp_1', 0, 0)).toMatch(/^msg_[0-9a-z]{26}$/);
  });
});
