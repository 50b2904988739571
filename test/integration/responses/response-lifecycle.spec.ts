import { afterEach, describe, expect, it } from 'vitest';
import { foldOutput } from '../../../src/responses/response-fold.js';
import type { ResponseObject } from '../../../src/responses/response-object.js';
import { taskIdOf } from '../../../src/responses/response-store.js';
import { LIFECYCLE_EVENTS } from '../../../src/tasks/task-transitions.js';
import { readSnapshot } from '../../../src/tasks/task-log.js';
import { BROKEN, type FakeEngineOptions } from '../../support/fake-engine.js';
import { outputText } from '../../support/output-text.js';
import { ResponseLab, type ResponseOptions } from '../../support/response-lab.js';
import { waitFor } from '../../support/wait-for.js';

let lab: ResponseLab;
afterEach(async () => {
  expect(await lab.tasks.faults()).toEqual([]);
  await lab.close();
  expect(lab.models.taken, 'seats never leak').toBe(0);
});

interface Payload {
  type: string;
  response?: ResponseObject;
}

async function payloads(id: string): Promise<string[]> {
  return (await lab.tasks.events(taskIdOf(id))).map((event) => event.payload);
}

/** Invariants 3 and 7: each snapshot's output is the fold of the events before it; the last one is the stored row. */
async function snapshotsHold(id: string): Promise<ResponseObject> {
  const log = await payloads(id);
  let last: ResponseObject | undefined;
  log.forEach((text, number) => {
    const { type, response } = JSON.parse(text) as Payload;
    expect(response !== undefined, type).toBe((LIFECYCLE_EVENTS as readonly string[]).includes(type));
    if (!response) return;
    const folded = foldOutput([], log.slice(0, number));
    const ended = ['completed', 'incomplete', 'failed', 'cancelled'].includes(response.status);
    const expected = folded.map((item) =>
      ended && item.status === 'in_progress' ? { ...item, status: 'incomplete' } : item,
    );
    expect(response.output, `event ${number}, ${type}`).toEqual(response.status === 'queued' ? [] : expected);
    last = response;
  });
  const rows = await lab.tasks.store.reader.query<Record<string, unknown>>('select * from responses where id = ?', [
    id,
  ]);
  const row = rows[0]!;
  expect(JSON.parse(row['body'] as string)).toEqual(last);
  expect(row['status']).toBe(last?.status);
  if (row['finished_at'] !== null) {
    expect(row['body_sequence_number']).toBe(log.length - 1);
    expect(row['generation'], 'the record is given up with the end').toBeNull();
  }
  return last!;
}

async function run(engine: FakeEngineOptions, options: ResponseOptions = {}): Promise<[string, ResponseObject]> {
  lab = await ResponseLab.open(engine);
  const id = await lab.create(options);
  await lab.tasks.runner.start();
  return [id, await lab.ended(id)];
}

describe('a response through its life', () => {
  it('invariant 3: completed: the snapshot equals the stored response, text and usage are as generated', async () => {
    const [id, response] = await run({ tokens: () => ['Hel', 'lo', '!'] });
    expect(response).toMatchObject({
      status: 'completed',
      error: null,
      incomplete_details: null,
      output: [{ type: 'message', role: 'assistant', status: 'completed' }],
      // Three texts and the end token.
      usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
      lmsp: { task_status: 'completed', attempt: 1 },
    });
    expect(response.completed_at).not.toBeNull();
    expect(outputText(response)).toBe('Hello!');
    expect(await snapshotsHold(id)).toEqual(response);
    expect(await readSnapshot(lab.tasks.store.reader, taskIdOf(id), 0)).toHaveLength(4);
  });

  it('invariant 10: at the output limit: incomplete, completed_at null, the item done and incomplete', async () => {
    const [id, response] = await run({ tokens: () => ['a', 'b', 'c', 'd'] }, { generation: { maxOutputTokens: 2 } });
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      completed_at: null,
      output: [{ status: 'incomplete' }],
      usage: { output_tokens: 2 },
      lmsp: { task_status: 'completed' },
    });
    expect(outputText(response)).toBe('ab');
    expect((await payloads(id)).at(-2)).toContain('response.output_item.done');
    await snapshotsHold(id);
  });

  it('invariant 10: failed in the middle: the open item is incomplete and gets no done events', async () => {
    const [id, response] = await run({ tokens: () => ['a', 'b', BROKEN] });
    expect(response).toMatchObject({
      status: 'failed',
      error: { code: 'model_error' },
      completed_at: null,
      output: [{ status: 'incomplete' }],
    });
    expect(outputText(response)).toBe('ab');
    expect((await payloads(id)).join()).not.toMatch(/output_(item|text)\.done/);
    await snapshotsHold(id);
  });

  it('WIRE B4: cancelled in the middle keeps the partial output, open items incomplete, usage as counted', async () => {
    lab = await ResponseLab.open({ tokens: () => ['a', 'b', 'c', 'd'] });
    lab.engine.hold();
    const id = await lab.create();
    await lab.tasks.runner.start();
    lab.engine.step(2);
    await waitFor('some text', async () => outputText(await lab.body(id)) !== '');
    const before = outputText(await lab.body(id));
    await lab.tasks.cancellation.cancel(taskIdOf(id));
    const response = await lab.body(id);
    expect(response).toMatchObject({ status: 'cancelled', completed_at: null, output: [{ status: 'incomplete' }] });
    expect(outputText(response).startsWith(before)).toBe(true);
    expect(response.usage?.output_tokens).toBe(outputText(response).length);
    expect((await payloads(id)).join()).not.toContain('output_item.done');
    await snapshotsHold(id);
  });

  it('WIRE B4 row 9: cancelled while queued: no output, prompt counted', async () => {
    lab = await ResponseLab.open();
    const id = await lab.create();
    await lab.tasks.cancellation.cancel(taskIdOf(id));
    expect(await lab.body(id)).toMatchObject({
      status: 'cancelled',
      output: [],
      usage: { input_tokens: 3, output_tokens: 0 },
    });
    await snapshotsHold(id);
  });

  it('while it runs the output is the fold of what is on disk', async () => {
    lab = await ResponseLab.open({ tokens: () => ['a', 'b', 'c'] });
    lab.engine.hold();
    const id = await lab.create();
    await lab.tasks.runner.start();
    lab.engine.step(2);
    await waitFor('text that equals the deltas on disk', async () => {
      const body = await lab.body(id);
      expect('abc'.startsWith(outputText(body))).toBe(true);
      if (outputText(body) === '') return false;
      expect(body).toMatchObject({ status: 'in_progress', usage: null, output: [{ status: 'in_progress' }] });
      return outputText(body) === outputText({ ...body, output: foldOutput([], await payloads(id)) });
    });
    lab.engine.release();
    await lab.ended(id);
    await snapshotsHold(id);
  });
});

describe('a second start', () => {
  it('invariant 7, WIRE B4 row 15: its runner lost, the output is empty again and the new items have other ids', async () => {
    lab = await ResponseLab.open({ tokens: () => ['a', 'b'] });
    lab.engine.hold();
    const id = await lab.create();
    await lab.tasks.runner.start();
    lab.engine.step(2);
    await waitFor('some text', async () => outputText(await lab.body(id)) !== '');
    const first = (await lab.body(id)).output[0]!.id;
    lab.engine.killAll();
    await waitFor('queued again', async () => (await lab.body(id)).status === 'queued');
    expect((await lab.body(id)).output).toEqual([]);
    lab.engine.release();
    await lab.models.load();
    lab.tasks.runner.wake('response', 'fake');
    const response = await lab.ended(id);
    expect(outputText(response)).toBe('ab');
    expect(response.output[0]!.id).not.toBe(first);
    expect(response.usage?.output_tokens, 'of the present start only').toBe(3);
    expect(response.lmsp.attempt).toBeGreaterThan(1);
    await snapshotsHold(id);
  });

  it('C1: stopped in the middle and started again, a response with policy retry completes, its log in one piece', async () => {
    lab = await ResponseLab.open({ tokens: () => ['a', 'b'] });
    lab.engine.hold();
    const id = await lab.create();
    await lab.tasks.runner.start();
    lab.engine.step(2);
    await waitFor('some text', async () => outputText(await lab.body(id)) !== '');
    await lab.tasks.stop.stopClaiming();
    await lab.tasks.stop.endRuns();
    lab = await lab.reopened({ tokens: () => ['a', 'b'] });
    await lab.tasks.recovery.run(() => undefined);
    expect(await lab.body(id)).toMatchObject({ status: 'queued', output: [], lmsp: { task_status: 'queued' } });
    await lab.tasks.runner.start();
    expect(outputText(await lab.ended(id))).toBe('ab');
    await snapshotsHold(id);
  });

  it('C2: with policy fail the response fails with server_restarted and keeps its partial output', async () => {
    lab = await ResponseLab.open({ tokens: () => ['a', 'b'] });
    lab.engine.hold();
    const id = await lab.create({ onRestart: 'fail' });
    await lab.tasks.runner.start();
    lab.engine.step(2);
    await waitFor('some text', async () => outputText(await lab.body(id)) !== '');
    await lab.tasks.stop.stopClaiming();
    await lab.tasks.stop.endRuns();
    lab = await lab.reopened();
    await lab.tasks.recovery.run(() => undefined);
    const response = await lab.body(id);
    expect(response).toMatchObject({ status: 'failed', error: { type: 'server_error', code: 'server_restarted' } });
    expect(response.output[0]).toMatchObject({ status: 'incomplete' });
    await snapshotsHold(id);
  });
});
