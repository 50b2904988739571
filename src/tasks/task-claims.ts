import { Injectable } from '@nestjs/common';
import { storageFault, StoreReader, UnitOfWork, type Tx } from '../database/index.js';
import { Notices } from '../notices/index.js';
import { TaskHandlers, type Seat, type TaskHandler } from './task-handlers.js';
import { TaskLifecycleService } from './task-lifecycle.service.js';
import type { Queryable } from './task-log.js';
import type { Task } from './task.js';

/** A task that this process owns, with the seat it was claimed for. */
export interface ClaimedTask {
  task: Task;
  seat: Seat;
  handler: TaskHandler;
}

/** Hears of a claim before it is committed. */
type Register = (tx: Tx, claimed: ClaimedTask) => void;

/** Tasks that wait in one lane at most looked at by one claim. */
const LARGEST_CLAIM = 64;

/** One task cannot be claimed: its row is damaged. The others of the unit are not to blame. */
class Unclaimable extends Error {
  constructor(
    readonly taskId: string,
    cause: unknown,
  ) {
    super(`task ${taskId} cannot be claimed`, { cause });
  }
}

/** Takes tasks out of their lane: the seat first, then the row (WIRE B4 "Claims"). */
@Injectable()
export class TaskClaims {
  /** Damaged tasks, left as they are to the next start, so that they hold up no other of their lane. */
  private readonly setAside = new Set<string>();

  constructor(
    private readonly reader: StoreReader,
    private readonly units: UnitOfWork,
    private readonly handlers: TaskHandlers,
    private readonly lifecycle: TaskLifecycleService,
    private readonly notices: Notices,
  ) {}

  /**
   * Claims as many waiting tasks of the lane as there are seats, oldest first, in one unit. `register` hears of each
   * claim before it is committed, and must take it back when the unit rolls back: a cancel that runs right after the
   * commit has to find the run.
   */
  async claim(type: string, model: string | null, register: Register): Promise<void> {
    const handler = this.handlers.of(type);
    const seats = this.seats(handler, model, (await this.waiting(this.reader, type, model, LARGEST_CLAIM)).length);
    let used = 0;
    try {
      if (seats.length > 0) used = await this.claimInto(seats, handler, model, register);
    } finally {
      for (const seat of seats.slice(used)) seat.release();
    }
  }

  /** Every lane in which tasks wait. */
  lanes(): Promise<{ type: string; model: string | null }[]> {
    return this.reader.query(`select distinct type, model from tasks where status = 'queued'`);
  }

  /** How many seats were used. */
  private async claimInto(
    seats: Seat[],
    handler: TaskHandler,
    model: string | null,
    register: Register,
  ): Promise<number> {
    for (;;) {
      try {
        return await this.units.run(async (tx) => {
          const ids = await this.waiting(tx, handler.type, model, seats.length);
          for (const [i, id] of ids.entries()) {
            const seat = seats[i];
            if (seat) register(tx, { task: await this.start(tx, id, seat), seat, handler });
          }
          return ids.length;
        });
      } catch (error) {
        if (!(error instanceof Unclaimable)) throw error;
        this.setAside.add(error.taskId);
        this.notices.emit('task.fault', { task_id: error.taskId, error: error.cause });
      }
    }
  }

  private async start(tx: Tx, id: string, seat: Seat): Promise<Task> {
    try {
      return await (seat.resident
        ? this.lifecycle.start(tx, id, seat.owner)
        : this.lifecycle.startLoading(tx, id, seat.owner));
    } catch (error) {
      throw storageFault(error) ? error : new Unclaimable(id, error);
    }
  }

  /** Ids of tasks that wait in the lane, oldest first. */
  private async waiting(from: Queryable, type: string, model: string | null, limit: number): Promise<string[]> {
    const rows = await from.query<{ id: string }>(
      `select id from tasks where status = 'queued' and type = ? and model is ?
         and id not in (select value from json_each(?)) order by position limit ?`,
      [type, model, JSON.stringify([...this.setAside]), limit],
    );
    return rows.map(({ id }) => id);
  }

  private seats(handler: TaskHandler, model: string | null, wanted: number): Seat[] {
    const seats: Seat[] = [];
    while (seats.length < wanted) {
      const seat = handler.seat(model);
      if (!seat) break;
      // Looked at when the claim is on disk; a load that fails before that is no crash.
      seat.ready.catch(() => undefined);
      seats.push(seat);
    }
    return seats;
  }
}
