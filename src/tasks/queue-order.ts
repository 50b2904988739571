import type { Queryable } from './task-log.js';
import type { Lane } from './task-queries.js';
import { taskFromRow, type Task, type TaskRow } from './task.js';

const WAITING = `status = 'queued' and type = ? and model is ?`;

/** A client whose tasks wait in a lane, and the queue position of its oldest. */
export interface WaitingClient {
  clientId: string;
  oldest: number;
}

/**
 * The clients whose tasks wait in the lane. The index is asked for one after the other: the number of their tasks does
 * not matter.
 * @param passed ids of tasks that are not to be seen, as a JSON array
 */
export async function waitingClients(from: Queryable, { type, model }: Lane, passed = '[]'): Promise<WaitingClient[]> {
  const rows = await from.query<{ clientId: string; oldest: number | null }>(
    `with recursive waiting(client) as (
       select (select client_id from tasks where ${WAITING} order by client_id limit 1)
       union all
       select (select client_id from tasks where ${WAITING} and client_id > client order by client_id limit 1)
       from waiting where client is not null
     )
     select client as clientId, (select position from tasks where ${WAITING} and client_id = client
       and id not in (select value from json_each(?)) order by position limit 1) as oldest
     from waiting where client is not null`,
    [type, model, type, model, type, model, passed],
  );
  return rows.filter((row): row is WaitingClient => row.oldest !== null);
}

/** Tasks of the lane that are ahead of the place-th task of a client, at most: its own, and as many rounds of the others. */
export async function mostAhead(from: Queryable, lane: Lane, clientId: string, place: number): Promise<number> {
  const others = (await waitingClients(from, lane)).filter((other) => other.clientId !== clientId);
  const [row] = await from.query<{ ahead: number | null }>(
    `select sum((select count(*) from (select 1 from tasks where ${WAITING} and client_id = value limit ?))) as ahead
     from json_each(?)`,
    [lane.type, lane.model, place + 1, JSON.stringify(others.map((other) => other.clientId))],
  );
  return place + (row?.ahead ?? 0);
}

/**
 * Whose turn it is in each lane: the client that was served longest ago, then by the age of what waits. Each client's
 * tasks go in the order of the queue. So whoever waits is served after every other client once, however many tasks those
 * have. Kept in memory: a new process begins the round anew.
 */
export class ClientTurns {
  private turn = 0;
  /** Lane and client → its last turn; as many as there are clients. */
  private readonly served = new Map<string, number>();

  /** Up to `limit` tasks that wait in the lane, in the order in which they are to be claimed. */
  async next(from: Queryable, lane: Lane, passed: string, limit: number): Promise<Task[]> {
    if (limit === 0) return [];
    const clients = this.inOrder(lane, await waitingClients(from, lane, passed)).slice(0, limit);
    // Each gets one before any gets a second.
    const each = limit - clients.length + 1;
    const rows = await from.query<{ clientId: string; position: number }>(
      `select t.client_id as clientId, t.position from json_each(?) as c cross join tasks as t
       where t.position in (select position from tasks where ${WAITING} and client_id = c.value
         and id not in (select value from json_each(?)) order by position limit ?)
       order by c.key, t.position`,
      [JSON.stringify(clients), lane.type, lane.model, passed, each],
    );
    const positions = dealt(clients, rows).slice(0, limit);
    return tasksAt(from, positions);
  }

  /** The tasks have been claimed, in this order. */
  serve(lane: Lane, clientIds: string[]): void {
    for (const clientId of clientIds) {
      this.turn += 1;
      this.served.set(keyOf(lane, clientId), this.turn);
    }
  }

  private inOrder(lane: Lane, clients: WaitingClient[]): string[] {
    const lastTurn = ({ clientId }: WaitingClient): number => this.served.get(keyOf(lane, clientId)) ?? 0;
    return clients.sort((a, b) => lastTurn(a) - lastTurn(b) || a.oldest - b.oldest).map(({ clientId }) => clientId);
  }
}

function keyOf({ type, model }: Lane, clientId: string): string {
  return JSON.stringify([type, model, clientId]);
}

/** One task of each client, then a second of each, and so on. */
function dealt(clients: string[], rows: { clientId: string; position: number }[]): number[] {
  const hands = clients.map((client) => rows.filter(({ clientId }) => clientId === client));
  const rounds = Math.max(0, ...hands.map((hand) => hand.length));
  return Array.from({ length: rounds }, (_, round) => hands.flatMap((hand) => hand[round]?.position ?? [])).flat();
}

async function tasksAt(from: Queryable, positions: number[]): Promise<Task[]> {
  const rows = await from.query<TaskRow>('select * from tasks where position in (select value from json_each(?))', [
    JSON.stringify(positions),
  ]);
  const tasks = new Map(rows.map(taskFromRow).map((task) => [task.position, task]));
  return positions.flatMap((position) => tasks.get(position) ?? []);
}
