import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectResponses } from '../../../src/responses/response-projection.js';
import { taskIdOf } from '../../../src/responses/response-store.js';
import { claimOf } from '../../support/task-lab.js';
import { outputText } from '../../support/output-text.js';
import { GENERATION, ResponseLab } from '../../support/response-lab.js';

let lab: ResponseLab;
beforeAll(async () => {
  lab = await ResponseLab.open();
});
afterAll(() => lab.close());

const change = { event: 'response.in_progress' as const, sequenceNumber: 2 };

describe('the response store', () => {
  it('invariant 3: the events 0 and 1 carry the response as it is stored', async () => {
    const id = await lab.create();
    const events = await lab.tasks.events(taskIdOf(id));
    for (const { payload } of events) expect(JSON.parse(payload)).toMatchObject({ response: await lab.body(id) });
  });

  it('WIRE B0: a foreign response is as absent as one that never was', async () => {
    const id = await lab.create();
    expect(await lab.store.find(id, 'cli_other')).toBeNull();
    expect(await lab.conversations.inputOf(id, 'cli_other')).toBeNull();
    expect(await lab.store.find('resp_absent', 'cli_test')).toBeNull();
    expect((await lab.store.find(id, 'cli_test'))?.taskId).toBe(taskIdOf(id));
    expect(await lab.conversations.inputOf(id, 'cli_test')).toHaveLength(1);
  });

  it('keeps all its generation is a function of, until the end', async () => {
    const id = await lab.create();
    expect(await lab.store.generation(id)).toEqual(GENERATION);
    await lab.tasks.cancellation.cancel(taskIdOf(id));
    await expect(lab.store.generation(id)).rejects.toThrow('has no generation record');
    await expect(lab.store.generation('resp_absent')).rejects.toThrow('has no generation record');
  });

  it('R5: a response whose task is unfinished cannot be deleted; a finished one can', async () => {
    const id = await lab.create();
    await expect(lab.tasks.write((tx) => lab.store.remove(tx, id))).rejects.toThrow();
    expect(await lab.body(id)).toMatchObject({ status: 'queued' });
    await lab.tasks.cancellation.cancel(taskIdOf(id));
    await lab.tasks.write(async (tx) => {
      await lab.store.remove(tx, id);
      await lab.tasks.lifecycle.remove(tx, taskIdOf(id));
    });
    expect(await lab.store.find(id, 'cli_test')).toBeNull();
    expect(await lab.tasks.events(taskIdOf(id))).toEqual([]);
  });

  it('R2: a transition whose response is missing is refused whole', async () => {
    const task = await lab.tasks.create({ type: 'response', model: 'fake' });
    await expect(lab.tasks.write((tx) => projectResponses(tx, [{ ...change, task }]))).rejects.toThrow(
      'has no response',
    );
    const orphan = { ...task, responseId: 'resp_absent' };
    await expect(lab.tasks.write((tx) => projectResponses(tx, [{ ...change, task: orphan }]))).rejects.toThrow(
      'does not exist',
    );
    await expect(lab.tasks.write((tx) => lab.tasks.lifecycle.start(tx, task.id, 'run_1'))).rejects.toThrow();
    expect(await lab.tasks.task(task.id)).toEqual(task);
  });

  it('folds logs longer than one page', async () => {
    const id = await lab.create();
    const taskId = taskIdOf(id);
    await lab.tasks.write((tx) => lab.tasks.lifecycle.start(tx, taskId, 'run_1'));
    const claim = claimOf(await lab.tasks.task(taskId));
    const place = { output_index: 0, item_id: 'msg_1', content_index: 0 };
    const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
    const part = { type: 'output_text', text: '', annotations: [], logprobs: [] };
    const events = [
      { type: 'response.output_item.added', payload: { output_index: 0, item } },
      { type: 'response.content_part.added', payload: { ...place, part } },
      ...Array.from({ length: 2500 }, (_, i) => ({
        type: 'response.output_text.delta',
        payload: { ...place, delta: `${i} ` },
      })),
    ];
    await lab.tasks.journal.append(claim, { events, snapshot: null });
    const text = Array.from({ length: 2500 }, (_, i) => `${i} `).join('');
    expect(outputText(await lab.body(id))).toBe(text);
    await lab.tasks.write((tx) => lab.tasks.lifecycle.complete(tx, claim, null));
    expect(outputText(await lab.body(id))).toBe(text);
  });
});
