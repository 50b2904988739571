import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClientTurns } from '../../../src/tasks/queue-order.js';
import type { Task } from '../../../src/tasks/task.js';
import { TaskLab } from '../../support/task-lab.js';

const LANE = { type: 'scripted', model: null };
const CLIENTS = ['cli_a', 'cli_b', 'cli_c', 'cli_d'] as const;

let lab: TaskLab;
beforeEach(async () => {
  lab = await TaskLab.open({});
  await lab.write(async (tx) => {
    for (const id of CLIENTS) {
      await tx.execute(`INSERT INTO clients (id, name, owner, scopes, created_at) VALUES (?, 'test', 0, '[]', 1)`, [
        id,
      ]);
    }
  });
});
afterEach(() => lab.close());

async function enqueue(...clients: string[]): Promise<Task[]> {
  const drafts = clients.map((clientId) => lab.draft({ clientId }));
  return lab.write((tx) => lab.lifecycle.enqueue(tx, drafts));
}

/** Claims as the runner does, with nothing of it in between; the tasks end at once. */
async function claimed(turns: ClientTurns, rows: number): Promise<Task[]> {
  return lab.write(async (tx) => {
    const tasks = await turns.next(tx, LANE, '[]', rows);
    for (const { id } of tasks) await lab.lifecycle.cancelQueued(tx, id);
    turns.serve(
      LANE,
      tasks.map(({ clientId }) => clientId),
    );
    return tasks;
  });
}

const clientsOf = (tasks: Task[]): string[] => tasks.map(({ clientId }) => clientId.slice(-1));

describe('the turn of a client (WIRE B4 claims, B6)', () => {
  it('comes before the next ten thousand tasks of another', async () => {
    const order: string[] = [];
    lab.handler.seats = 1;
    lab.handler.script = ({ task }) => {
      order.push(task.clientId.slice(-1));
      return Promise.resolve({ kind: 'completed' });
    };
    const many = await enqueue(...Array<string>(30).fill('cli_a'));
    const [late] = await enqueue('cli_b');
    await lab.runner.start();
    await lab.stream.ended(many.at(-1)!.id, new AbortController().signal);
    expect(order.slice(0, 3)).toEqual(['a', 'b', 'a']);
    expect((await lab.task(late!.id)).status).toBe('completed');
  });

  it('goes round, one task each, and each client’s own tasks keep the order of the queue', async () => {
    const tasks = await enqueue('cli_a', 'cli_a', 'cli_a', 'cli_b', 'cli_c', 'cli_b');
    const turns = new ClientTurns();
    const taken = [...(await claimed(turns, 4)), ...(await claimed(turns, 4))];
    expect(clientsOf(taken)).toEqual(['a', 'b', 'c', 'a', 'b', 'a']);
    const own = (all: Task[]) => all.filter(({ clientId }) => clientId === 'cli_a').map(({ id }) => id);
    expect(own(taken)).toEqual(own(tasks));
  });

  it('goes on from claim to claim: who was served longest ago is next', async () => {
    await enqueue('cli_a', 'cli_a', 'cli_a', 'cli_b', 'cli_b', 'cli_b', 'cli_c');
    const turns = new ClientTurns();
    const seen: string[] = [];
    for (let i = 0; i < 4; i += 1) seen.push(...clientsOf(await claimed(turns, 1)));
    expect(seen).toEqual(['a', 'b', 'c', 'a']);
    await enqueue('cli_d');
    expect(clientsOf(await claimed(turns, 4))).toEqual(['d', 'b', 'a', 'b']);
  });

  it('sees nothing of tasks that are passed over', async () => {
    const [first, second] = await enqueue('cli_a', 'cli_a');
    const next = await new ClientTurns().next(lab.store.reader, LANE, JSON.stringify([first!.id]), 5);
    expect(next.map(({ id }) => id)).toEqual([second!.id]);
  });

  it('comes within one claim of every other client, whoever comes and however many tasks they bring', async () => {
    const arrivals = fc.array(fc.tuple(fc.constantFrom(...CLIENTS), fc.integer({ min: 1, max: 6 })), { maxLength: 4 });
    const rounds = fc.array(fc.record({ arrivals, rows: fc.integer({ min: 1, max: 3 }) }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(rounds, async (plan) => {
        const turns = new ClientTurns();
        /** Claims of others since the client has waited or was served last. */
        const waited = new Map<string, number>();
        const waiting = new Map<string, number>();
        for (const round of plan) {
          const drafts = round.arrivals.flatMap(([client, count]) => Array<string>(count).fill(client));
          if (drafts.length > 0) await enqueue(...drafts);
          for (const client of drafts) waiting.set(client, (waiting.get(client) ?? 0) + 1);
          const taken = (await claimed(turns, round.rows)).map(({ clientId }) => clientId);
          const all = [...waiting.values()].reduce((sum, count) => sum + count, 0);
          expect(taken).toHaveLength(Math.min(all, round.rows));
          for (const client of taken) {
            for (const [other, count] of waiting) {
              if (count === 0 || other === client) continue;
              waited.set(other, (waited.get(other) ?? 0) + 1);
              expect(waited.get(other)).toBeLessThanOrEqual(CLIENTS.length - 1);
            }
            waited.delete(client);
            waiting.set(client, waiting.get(client)! - 1);
          }
        }
        // The next plan begins with an empty queue.
        for (let left = 1; left > 0;) left = (await claimed(turns, 64)).length;
      }),
      { numRuns: 15 },
    );
  });
});

describe('the place in the queue (WIRE B4, queue_position)', () => {
  it('is exact for a client alone, and at most as many as stand before it where others wait', async () => {
    const tasks = await enqueue('cli_a', 'cli_a', 'cli_a');
    const places = async (): Promise<(number | null)[]> =>
      Promise.all(tasks.map((task) => lab.queries.queuePosition(task)));
    expect(await places()).toEqual([0, 1, 2]);
    await enqueue(...Array<string>(20).fill('cli_b'), 'cli_c');
    expect(await places()).toEqual([2, 4, 6]);
  });

  it('is never passed by more claims than it says', async () => {
    const plan = fc.array(fc.constantFrom(...CLIENTS), { minLength: 1, maxLength: 15 });
    await fc.assert(
      fc.asyncProperty(plan, async (clients) => {
        const tasks = await enqueue(...clients);
        const said = await Promise.all(tasks.map((task) => lab.queries.queuePosition(task)));
        const order = (await claimed(new ClientTurns(), 64)).map(({ id }) => id);
        for (const [i, { id }] of tasks.entries()) expect(order.indexOf(id)).toBeLessThanOrEqual(said[i]!);
      }),
      { numRuns: 15 },
    );
  });
});

describe('a claim', () => {
  it('asks indexes alone, so that ten thousand waiting tasks cost it nothing', async () => {
    await enqueue('cli_a', 'cli_b');
    const plans: string[] = [];
    const explaining = {
      query: async <R>(sql: string, parameters?: unknown[]): Promise<R[]> => {
        const rows = await lab.store.reader.query<{ detail: string }>(`explain query plan ${sql}`, parameters);
        plans.push(...rows.map(({ detail }) => detail));
        return lab.store.reader.query<R>(sql, parameters);
      },
    };
    expect(await new ClientTurns().next(explaining, LANE, '[]', 8)).toHaveLength(2);
    const ofTasks = plans.filter((detail) => /\b(tasks|t)\b/.test(detail) && !detail.includes('json_each'));
    expect(ofTasks.length).toBeGreaterThan(3);
    for (const detail of ofTasks) {
      expect(detail).toMatch(/tasks_queued_of_client|INTEGER PRIMARY KEY|SUBQUERY/);
      expect(detail).not.toMatch(/^SCAN tasks|^SCAN t\b/);
    }
  });
});
