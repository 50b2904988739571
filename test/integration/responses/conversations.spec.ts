import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingOf } from '../../../src/responses/conversations.js';
import { taskIdOf } from '../../../src/responses/response-store.js';
import { ResponseLab } from '../../support/response-lab.js';

let lab: ResponseLab;
beforeAll(async () => {
  lab = await ResponseLab.open();
});
afterAll(() => lab.close());

describe('what a request refers to', () => {
  it('WIRE B3: is looked for once more in the unit that stores it', async () => {
    const id = await lab.create();
    expect(await lab.tasks.write((tx) => missingOf(tx, [id, 'resp_gone']))).toEqual(new Set(['resp_gone']));
    expect(await lab.tasks.write((tx) => missingOf(tx, []))).toEqual(new Set());
  });

  it('is found by its id in the end of a response, and by nobody else', async () => {
    const id = await lab.create();
    await lab.tasks.runner.start();
    const { output } = await lab.ended(id);
    const itemId = output[0]?.id ?? '';
    const { items, responseIds } = await lab.conversations.items([itemId, itemId, 'msg_absent'], 'cli_test');
    expect([...items]).toEqual([[itemId, output[0]]]);
    expect(responseIds).toEqual([id]);
    expect((await lab.conversations.items([itemId], 'cli_other')).items.size).toBe(0);
  });

  it('may not be larger than a body, however often it is referred to', async () => {
    const id = await lab.create({ background: true });
    await lab.tasks.write((tx) =>
      tx.execute(`UPDATE responses SET input = ? WHERE id = ?`, [
        JSON.stringify([{ id: 'msg_large', type: 'message', text: 'x'.repeat(5_000_000) }]),
        id,
      ]),
    );
    await lab.tasks.write((tx) => tx.execute('INSERT INTO response_items VALUES (?, ?)', ['msg_large', id]));
    expect((await lab.conversations.items(['msg_large'], 'cli_test')).items.size).toBe(1);
    await expect(lab.conversations.items(['msg_large', 'msg_large'], 'cli_test')).rejects.toMatchObject({
      code: 'request_too_large',
    });
    await lab.tasks.cancellation.cancel(taskIdOf(id));
  });
});
