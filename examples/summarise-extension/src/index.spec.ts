import { createTestService, waitFor, type Prompt, type TestService } from 'lmsp-service/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { extension } from './index.js';

const TEXT = 'First things first.\n\nThen what follows.\n\nAnd an end.';
const answer = ({ text }: Prompt): string =>
  text.includes('\n') ? 'all in all' : text.replace('Summarise: ', 'short: ');
const SUMMARY = { parts: 3, summary: 'all in all' };

describe('summarise.document', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await createTestService({ extensions: [extension] });
    service.engine.answerWith(({ text }) =>
      text.includes('\n') ? 'all in all' : text.replace('Summarise: ', 'short: '),
    );
  });

  afterAll(() => service.close());

  const begin = async (text = TEXT): Promise<string> => {
    const { body } = await service.request<{ id: string }>('POST', '/v1/tasks', {
      type: 'summarise.document',
      input: { text },
    });
    return body.id;
  };

  it('summarises each paragraph, and then the summaries', async () => {
    const task = await service.runToEnd(await begin());
    expect(task).toMatchObject({ status: 'completed', result: SUMMARY, attempt: 1 });
    expect(service.engine.prompts.at(-1)?.text).toBe(
      'Summarise: short: First things first.\nshort: Then what follows.\nshort: And an end.',
    );
  });

  it('goes on behind the last step after a crash in each', async () => {
    const { engine } = service;
    const before = engine.prompts.length;
    // Whatever is asked for the first time takes for ever; asked again after the crash, it is answered.
    engine.answerWith((prompt) => {
      engine.hold('runs');
      return answer(prompt);
    });
    const id = await begin();
    for (let step = 1; step <= 4; step += 1) {
      await waitFor(`step ${step}`, () => engine.prompts.length - before === 2 * step - 1);
      await service.crashAndRestart();
    }
    expect(await service.runToEnd(id)).toMatchObject({ status: 'completed', result: SUMMARY, attempt: 5 });
    // Each step twice: in the attempt that the crash ended, and in the next. None whose cursor was on disk again.
    const asked = engine.prompts.slice(before).map(({ text }) => text);
    expect(asked.filter((_, i) => i % 2 === 0)).toEqual(asked.filter((_, i) => i % 2 === 1));
    expect(new Set(asked).size).toBe(4);
    await service.checkLogs();
  });

  it('refuses a text that is none', async () => {
    const { status, body } = await service.request<{ error: { param: string } }>('POST', '/v1/tasks', {
      type: 'summarise.document',
      input: {},
    });
    expect([status, body.error.param]).toEqual([400, 'input.text']);
  });
});
