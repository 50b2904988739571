import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { StoreReader } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import { TaskUnits } from './hooks/task-units.js';
import { TaskLifecycleService } from './task-lifecycle.service.js';
import { TaskNotFound, TransitionRefused } from './tasks.errors.js';

/** The limit is met to the hundredth part of it. */
const PARTS = 100;
const SHORTEST_PERIOD_MS = 250;
/** Tasks that are failed in one transaction. */
const BATCH = 100;

/** The newest task that was there at a time of the monotonic clock. */
interface Mark {
  at: number;
  position: number;
}

/**
 * Fails tasks that have waited longer than `LMSP_QUEUE_TIMEOUT_SECONDS` to begin (row 12, queue_timeout). Positions only
 * grow, so a task has waited at least as long as the mark that stands behind it is old: no clock that can be set is
 * asked, and a start begins anew (WIRE B6).
 */
@Injectable()
export class QueueTimeout {
  private readonly limitMs: number;
  private readonly marks: Mark[] = [];
  private timer: NodeJS.Timeout | null = null;
  private looking: Promise<void> = Promise.resolve();

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly reader: StoreReader,
    private readonly units: TaskUnits,
    private readonly lifecycle: TaskLifecycleService,
    private readonly notices: Notices,
  ) {
    this.limitMs = config.queueTimeoutSeconds * 1000;
  }

  /** Called once recovery has ended; does nothing without a limit. */
  async start(): Promise<void> {
    if (this.limitMs === 0) return;
    await this.look(performance.now());
    const periodMs = Math.max(SHORTEST_PERIOD_MS, this.limitMs / PARTS);
    this.timer = setInterval(() => {
      this.looking = this.looking.then(() => this.look(performance.now()));
    }, periodMs).unref();
  }

  /** Resolves when nothing is being failed. */
  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer);
    await this.looking;
  }

  /** Never rejects: what could not be written is tried by the next look. */
  async look(now: number): Promise<void> {
    try {
      const limit = this.passed(now);
      if (limit !== null) while ((await this.failUpTo(limit)) === BATCH);
      const [newest] = await this.reader.query<{ position: number | null }>(
        'select max(position) as position from tasks',
      );
      this.marks.push({ at: now, position: newest?.position ?? 0 });
    } catch (error) {
      this.notices.emit('sweep.failed', { error });
    }
  }

  /** Position of the newest task that has waited for the whole time; older marks are of no more use. */
  private passed(now: number): number | null {
    const old = this.marks.filter(({ at }) => now - at >= this.limitMs);
    const last = old.at(-1);
    if (!last) return null;
    this.marks.splice(0, old.length - 1);
    return last.position;
  }

  /** How many were found. One that has begun waits for its next attempt, and is not meant. */
  private async failUpTo(position: number): Promise<number> {
    const found = await this.reader.query<{ id: string }>(
      `select id from tasks indexed by tasks_queued where status = 'queued' and attempt = 0 and position <= ? limit ?`,
      [position, BATCH],
    );
    if (found.length === 0) return 0;
    const error = new DomainError(
      'queue_timeout',
      `The task waited longer than ${this.limitMs / 1000} seconds; send it again later.`,
    ).toBody();
    await this.units.run(async (tx) => {
      for (const { id } of found) await this.lifecycle.failQueued(tx, id, error).catch(ignoreMoved);
    });
    return found.length;
  }
}

/** It was claimed, cancelled or deleted just now. */
function ignoreMoved(error: unknown): void {
  if (!(error instanceof TransitionRefused || error instanceof TaskNotFound)) throw error;
}
