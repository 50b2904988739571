import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DAY, RetentionLab } from '../../support/retention-lab.js';

let lab: RetentionLab;

beforeEach(async () => {
  lab = await RetentionLab.open();
});

afterEach(() => lab.close());

describe('ended responses (WIRE B6, retention)', () => {
  it('go 30 days after their end, to the millisecond; unfinished ones stay', async () => {
    await lab.addResponse({ id: 'resp_old', age: 30 * DAY });
    await lab.addResponse({ id: 'resp_young', age: 30 * DAY - 1 });
    await lab.addResponse({ id: 'resp_running', age: null });
    expect(await lab.run('responses')).toMatchObject({ removed: 1, rows: 1 });
    expect(await lab.ids('responses')).toEqual(['resp_running', 'resp_young']);
  });

  it('are kept for ever with 0', async () => {
    lab = await lab.reopened({ LMSP_RETENTION_RESPONSES_SECONDS: '0' });
    await lab.addResponse({ id: 'resp_old', age: 3650 * DAY });
    expect(await lab.run('responses')).toMatchObject({ removed: 0 });
  });

  it('outlive their task and its events', async () => {
    await lab.addResponse({ id: 'resp_a', age: 8 * DAY });
    await lab.addTask({ id: 'task_a', age: 8 * DAY, responseId: 'resp_a' });
    await lab.runner.run('operator');
    expect([await lab.count('tasks'), await lab.count('task_events'), await lab.count('responses')]).toEqual([0, 0, 1]);
  });

  it.each([
    ['kept by age', 1 * DAY],
    ['still running', null],
  ])('are spared, over generations, while one that descends from them is %s', async (_, age) => {
    await lab.addResponse({ id: 'resp_1', age: 90 * DAY });
    await lab.addResponse({ id: 'resp_2', age: 60 * DAY, previous: 'resp_1' });
    await lab.addResponse({ id: 'resp_3', age, previous: 'resp_2' });
    await lab.addResponse({ id: 'resp_side', age: 50 * DAY, previous: 'resp_2' });
    expect(await lab.survey('responses')).toMatchObject({ due: 1, blocked: [{ reason: 'in_use', rows: 2 }] });
    expect(await lab.run('responses')).toMatchObject({ removed: 1 });
    expect(await lab.ids('responses')).toEqual(['resp_1', 'resp_2', 'resp_3']);
  });

  it('go as a whole chain in one run, also one longer than a page', async () => {
    for (let i = 0; i < 450; i++) {
      await lab.addResponse({ id: `resp_${i}`, age: 500 * DAY - i, ...(i > 0 && { previous: `resp_${i - 1}` }) });
    }
    expect(await lab.run('responses')).toMatchObject({ removed: 450, batches: 3 });
  });

  it('whatever the chains: exactly the expired go that no kept one descends from (model)', async () => {
    const forest = fc.array(
      fc.record({
        parent: fc.nat(99),
        rooted: fc.nat(5).map((n) => n === 0),
        age: fc.integer({ min: 28, max: 40 }),
        running: fc.nat(19),
      }),
      { maxLength: 25, size: 'max' },
    );
    await fc.assert(
      fc.asyncProperty(forest, fc.integer({ min: 1, max: 8 }), async (nodes, limit) => {
        await lab.close();
        lab = await RetentionLab.open({ LMSP_RETENTION_BATCH_EVENTS: String(limit) });
        const rows = nodes.map((node, i) => ({
          id: `resp_${i}`,
          // A clock that was set back: a child may even have ended before its parent.
          age: node.running === 0 ? null : node.age * DAY,
          ...(i > 0 && !node.rooted && { previous: `resp_${node.parent % i}` }),
        }));
        for (const row of rows) await lab.addResponse(row);
        const kept = new Set<string>();
        for (const row of [...rows].reverse()) {
          if (row.age === null || row.age < 30 * DAY) kept.add(row.id);
          if (kept.has(row.id) && row.previous !== undefined) kept.add(row.previous);
        }
        const { due } = await lab.survey('responses');
        expect(due).toBe(rows.length - kept.size);
        // In the wrong order of ends a run may leave a parent to the next one; it never takes one that is in use.
        await lab.run('responses');
        expect((await lab.ids('responses')).filter((id) => kept.has(id))).toEqual([...kept].sort());
        for (let i = 0; i < 25; i++) await lab.run('responses');
        expect(await lab.ids('responses')).toEqual([...kept].sort());
      }),
      { numRuns: 30 },
    );
  }, 120_000);
});

it('the page is read from the index, without sorting', async () => {
  const plan = await lab.store.reader.query<{ detail: string }>(
    `explain query plan select rowid as place, id, finished_at, previous_response_id from responses
     where (finished_at, rowid) < (?, ?) order by finished_at desc, rowid desc limit ?`,
    [1, 1, 1],
  );
  expect(plan.map(({ detail }) => detail)).toEqual([
    'SEARCH responses USING INDEX responses_finished ((finished_at,rowid)<(?,?))',
  ]);
});
