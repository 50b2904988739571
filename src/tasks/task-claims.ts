import { Injectable } from '@nestjs/common';
import { storageFault, StoreReader, type Tx } from '../database/index.js';
import { DomainError, type ErrorBody } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import { TaskUnits } from './hooks/task-units.js';
import { ClientTurns } from './queue-order.js';
import { TaskHandlers, type Seat, type TaskHandler } from './task-handlers.js';
import { TaskLifecycleService } from './task-lifecycle.service.js';
import type { Queryable } from './task-log.js';
import { taskFromRow, type Task, type TaskRow } from './task.js';

/** A task that this process owns, with the seat it was claimed for. */
export interface ClaimedTask {
  task: Task;
  seat: Seat;
  handler: TaskHandler;
  /** Running, unowned, and to be taken up once the seat is ready (row 20): nothing is written before that. */
  resumed: boolean;
}

/** The runs of this process. */
export interface ClaimRegister {
  /** Tasks that have a run. */
  taskIds(): string[];
  /** A suspect runs in the lane: nothing is claimed beside it (WIRE B6). */
  suspectRuns(type: string, model: string | null): boolean;
  /**
   * Hears of a claim before it is committed, and must take it back when the unit rolls back: a cancel that runs right
   * after the commit has to find the run.
   */
  register(tx: Tx, claimed: ClaimedTask): void;
}

/** Which of these tasks may be claimed; it ends the others inside the unit. */
export type ClaimScreen = (tx: Tx, tasks: Task[]) => Promise<Task[]>;

interface TakenSeats {
  seats: Seat[];
  /** Why there is none more; an error: the lane is closed. Null: no more were wanted. */
  refusal: DomainError | 'full' | null;
}

/** Tasks that wait in one lane at most looked at by one claim. */
const LARGEST_CLAIM = 64;

const QUEUED = `status = 'queued'`;
const UNOWNED = `status = 'running' and owner is null`;
const SUSPECT = `suspect > 0 and finished_at is null and (${QUEUED} or (${UNOWNED}))`;

/** Tasks in a state, for the parameters type, model and ids to pass over. */
function ofLane(state: string): string {
  return `from tasks where ${state} and type = ?1 and model is ?2 and id not in (select value from json_each(?3))`;
}

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
  private screen: ClaimScreen = async (_tx, tasks) => tasks;
  private readonly turns = new ClientTurns();

  constructor(
    private readonly reader: StoreReader,
    private readonly units: TaskUnits,
    private readonly handlers: TaskHandlers,
    private readonly lifecycle: TaskLifecycleService,
    private readonly notices: Notices,
  ) {}

  /**
   * Claims as many waiting tasks of the lane as there are seats, in one unit: those that wait to be taken up before
   * those that are queued (WIRE B6), oldest first. `full`: the lane was refused a seat. On a full disk nothing begins:
   * rejects with StorageFault.
   */
  async claim(type: string, model: string | null, runs: ClaimRegister): Promise<'full' | null> {
    const handler = this.handlers.find(type);
    if (handler === null || runs.suspectRuns(type, model)) return null;
    await this.units.requireRoom();
    const { seats, refusal } = this.seats(handler, model, await this.countWaiting(type, model, runs));
    if (refusal instanceof DomainError && seats.length === 0) {
      await this.refuseForeground(type, model, refusal.toBody());
    }
    let used = 0;
    try {
      if (seats.length > 0) used = await this.claimInto(seats, handler, model, runs);
    } finally {
      for (const seat of seats.slice(used)) seat.release();
    }
    return refusal === 'full' ? refusal : null;
  }

  screenBy(screen: ClaimScreen): void {
    this.screen = screen;
  }

  /** A task that could not be taken up: its row is damaged, and left as it is to the next start. */
  setApart(taskId: string): void {
    this.setAside.add(taskId);
  }

  /** Every lane in which tasks wait. Those of an extension that is no longer there wait until it is again. */
  async lanes(): Promise<{ type: string; model: string | null }[]> {
    const lanes = await this.reader.query<{ type: string; model: string | null }>(
      `select distinct type, model from tasks where ${QUEUED} union select distinct type, model from tasks where ${UNOWNED}`,
    );
    const missing = new Set(lanes.map(({ type }) => type).filter((type) => this.handlers.find(type) === null));
    for (const type of missing) this.notices.emit('task.type_missing', { type });
    return lanes.filter(({ type }) => !missing.has(type));
  }

  /** How many seats were used. */
  private async claimInto(
    seats: Seat[],
    handler: TaskHandler,
    model: string | null,
    runs: ClaimRegister,
  ): Promise<number> {
    for (;;) {
      try {
        return await this.units.run(async (tx) => {
          const waiting = await this.claimable(tx, handler.type, model, runs, seats.length);
          let used = 0;
          for (const task of waiting) {
            const seat = seats[used];
            const claimed = seat && (await this.take(tx, task, seat, handler));
            if (!claimed) continue;
            runs.register(tx, claimed);
            used += 1;
          }
          const served = waiting.filter(({ status }) => status === 'queued').map(({ clientId }) => clientId);
          tx.afterCommit(() => this.turns.serve({ type: handler.type, model }, served));
          return used;
        });
      } catch (error) {
        if (!(error instanceof Unclaimable)) throw error;
        this.setAside.add(error.taskId);
        this.notices.emit('task.fault', { task_id: error.taskId, error: error.cause });
      }
    }
  }

  private async claimable(
    tx: Tx,
    type: string,
    model: string | null,
    runs: ClaimRegister,
    limit: number,
  ): Promise<Task[]> {
    for (;;) {
      const waiting = await this.waiting(tx, type, model, runs, limit);
      const left = await this.screen(tx, waiting);
      if (left.length > 0 || waiting.length === 0) return left;
    }
  }

  /** Null: it failed instead, since its claim could not be recorded. */
  private async take(tx: Tx, task: Task, seat: Seat, handler: TaskHandler): Promise<ClaimedTask | null> {
    if (task.status === 'running') return { task, seat, handler, resumed: true };
    try {
      const claimed = await (seat.resident
        ? this.lifecycle.start(tx, task.id, seat.owner)
        : this.lifecycle.startLoading(tx, task.id, seat.owner));
      return claimed.status === 'failed' ? null : { task: claimed, seat, handler, resumed: false };
    } catch (error) {
      throw storageFault(error) ? error : new Unclaimable(task.id, error);
    }
  }

  /** Tasks that wait in the lane and that no run of this process has a seat for; a suspect comes first, and alone. */
  private async waiting(
    from: Queryable,
    type: string,
    model: string | null,
    runs: ClaimRegister,
    limit: number,
  ): Promise<Task[]> {
    const passed = this.passed(runs);
    const select = async (state: string, count: number, order = 'position'): Promise<Task[]> => {
      const rows = await from.query<TaskRow>(
        `select * from tasks where ${state} and type = ? and model is ?
           and id not in (select value from json_each(?)) order by ${order} limit ?`,
        [type, model, passed, count],
      );
      return rows.map(taskFromRow);
    };
    // Whoever was alone at the last loss comes first: a step of its own clears it, before another is put in its place.
    const suspects = await select(SUSPECT, 1, 'suspect desc, position');
    if (suspects.length > 0) return suspects;
    const unowned = await select(UNOWNED, limit);
    return [...unowned, ...(await this.turns.next(from, { type, model }, passed, limit - unowned.length))];
  }

  /** How many seats the lane can use: every wake asks, most of them in vain, so no task is read for it. */
  private async countWaiting(type: string, model: string | null, runs: ClaimRegister): Promise<number> {
    const [row] = await this.reader.query<{ waiting: number }>(
      `select case when exists (select 1 ${ofLane(SUSPECT)}) then 1 else
         (select count(*) from (select 1 ${ofLane(UNOWNED)} limit ${LARGEST_CLAIM})) +
         (select count(*) from (select 1 ${ofLane(QUEUED)} limit ${LARGEST_CLAIM})) end as waiting`,
      [type, model, this.passed(runs)],
    );
    return Math.min(row?.waiting ?? 0, LARGEST_CLAIM);
  }

  private passed(runs: ClaimRegister): string {
    return JSON.stringify([...this.setAside, ...runs.taskIds()]);
  }

  /** As many as are wanted, or until one is refused. */
  private seats(handler: TaskHandler, model: string | null, wanted: number): TakenSeats {
    const seats: Seat[] = [];
    while (seats.length < wanted) {
      const seat = handler.seat(model);
      if (seat === null || seat instanceof DomainError) return { seats, refusal: seat ?? 'full' };
      // Looked at when the claim is on disk; a load that fails before that is no crash.
      seat.ready.catch(() => undefined);
      seats.push(seat);
    }
    return { seats, refusal: null };
  }

  /** The lane is closed: its background tasks wait, but nobody waits so long for an answer (row 12). */
  private async refuseForeground(type: string, model: string | null, error: ErrorBody): Promise<void> {
    await this.units.run(async (tx) => {
      const rows = await tx.query<{ id: string }>(
        `select id from tasks where ${QUEUED} and background = 0 and type = ? and model is ?`,
        [type, model],
      );
      for (const { id } of rows) await this.lifecycle.failQueued(tx, id, error);
    });
  }
}
