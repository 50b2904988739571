import { Injectable } from '@nestjs/common';
import { StoreReader, type Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { mostAhead } from './queue-order.js';
import type { Queryable } from './task-log.js';
import { taskFromRow, type Task, type TaskRow } from './task.js';
import type { HeldStatus, TaskStatus } from './task-transitions.js';
import { TaskNotFound } from './tasks.errors.js';

export interface TaskPageRequest {
  /** Absent: every client's. */
  clientId?: string;
  statuses?: TaskStatus[];
  model?: string;
  /** 1..100 tasks. */
  limit: number;
  order: 'asc' | 'desc';
  /** Id of the task behind which the page begins. */
  after?: string;
}

/** Where tasks of one type and model wait for each other. */
export interface Lane {
  type: string;
  model: string | null;
}

/** Reads of tasks, committed state only. A foreign task is as absent as one that never was (WIRE B0). */
@Injectable()
export class TaskQueries {
  constructor(private readonly reader: StoreReader) {}

  /** Whosever it is, with null as the client. */
  async find(taskId: string, clientId: string | null): Promise<Task | null> {
    const [row] = await this.reader.query<TaskRow>(
      'select * from tasks where id = ? and client_id = coalesce(?, client_id)',
      [taskId, clientId],
    );
    return row ? taskFromRow(row) : null;
  }

  /** As `find`, but throws task_not_found. */
  async get(taskId: string, clientId: string | null): Promise<Task> {
    const task = await this.find(taskId, clientId);
    if (!task) throw new TaskNotFound(taskId);
    return task;
  }

  /** A page by position. Throws invalid_cursor when `after` is not a task of the client. */
  async page(request: TaskPageRequest): Promise<{ tasks: Task[]; hasMore: boolean }> {
    const conditions: [sql: string, ...parameters: unknown[]][] = [['true']];
    if (request.clientId !== undefined) conditions.push(['client_id = ?', request.clientId]);
    if (request.statuses) {
      conditions.push(['status in (select value from json_each(?))', JSON.stringify(request.statuses)]);
    }
    if (request.model !== undefined) conditions.push(['model = ?', request.model]);
    if (request.after !== undefined) {
      const last = await this.find(request.after, request.clientId ?? null);
      if (!last) throw new DomainError('invalid_cursor', "'after' must be the id of a task.", { param: 'after' });
      conditions.push([request.order === 'asc' ? 'position > ?' : 'position < ?', last.position]);
    }
    const rows = await this.reader.query<TaskRow>(
      `select * from tasks where ${conditions.map(([sql]) => sql).join(' and ')}
       order by position ${request.order} limit ?`,
      [...conditions.flatMap(([, ...parameters]) => parameters), request.limit + 1],
    );
    return { tasks: rows.slice(0, request.limit).map(taskFromRow), hasMore: rows.length > request.limit };
  }

  /** The tasks of a type that have not ended, oldest first, as the unit sees them; for types of which there are few. */
  async unfinished(from: Queryable, type: string): Promise<Task[]> {
    const rows = await from.query<TaskRow>(
      // Each half has an index of its own: what has ended is not looked at.
      `select * from tasks where status = 'queued' and type = ?
       union all select * from tasks where status in ('loading', 'running', 'cancelling') and type = ?
       order by position`,
      [type, type],
    );
    return rows.map(taskFromRow);
  }

  /** Waiting tasks of each client, as the unit sees them: what an admission counts. */
  async queuedByClient(tx: Tx): Promise<Map<string, number>> {
    const rows = await tx.query<{ client_id: string; waiting: number }>(
      `select client_id, count(*) as waiting from tasks where status = 'queued' group by client_id`,
    );
    return new Map(rows.map((row) => [row.client_id, row.waiting]));
  }

  /** Waiting tasks of each lane, as the unit sees them. Reads the whole index of them. */
  async waitingByLane(tx: Tx): Promise<(Lane & { waiting: number })[]> {
    return tx.query(`select type, model, count(*) as waiting from tasks where status = 'queued' group by type, model`);
  }

  /** When the task was accepted that stands first in each of the lanes, in epoch milliseconds; one look for each. */
  async firstInLanes(lanes: Lane[]): Promise<(Lane & { acceptedAt: number })[]> {
    const rows = await this.reader.query<Lane & { acceptedAt: number | null }>(
      `select value->>'type' as type, value->>'model' as model,
         (select created_at from tasks where status = 'queued' and type = value->>'type' and model is value->>'model'
          order by position limit 1) as acceptedAt
       from json_each(?)`,
      [JSON.stringify(lanes)],
    );
    return rows.filter((row): row is Lane & { acceptedAt: number } => row.acceptedAt !== null);
  }

  /** Tasks that are being worked on, or wait for take-up: few, and in an index of their own. */
  async heldByStatus(): Promise<Record<HeldStatus, number>> {
    const rows = await this.reader.query<{ status: HeldStatus; held: number }>(
      `select status, count(*) as held from tasks where status in ('loading', 'running', 'cancelling') group by status`,
    );
    const counts: Record<HeldStatus, number> = { loading: 0, running: 0, cancelling: 0 };
    for (const { status, held } of rows) counts[status] = held;
    return counts;
  }

  /**
   * How many tasks of its lane are ahead of a queued one, at most: clients are served in turn, and whose turn it is
   * changes with every claim. Exact where no other client waits.
   */
  async queuePosition(task: Task): Promise<number | null> {
    if (task.status !== 'queued') return null;
    const [row] = await this.reader.query<{ place: number }>(
      `select count(*) as place from tasks
       where status = 'queued' and type = ? and model is ? and client_id = ? and position < ?`,
      [task.type, task.model, task.clientId, task.position],
    );
    return mostAhead(this.reader, task, task.clientId, row?.place ?? 0);
  }
}
