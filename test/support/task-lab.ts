import { loadConfig, type Config } from '../../src/config/index.js';
import { newIdentifier, type Store, type Tx } from '../../src/database/index.js';
import { Notices } from '../../src/notices/index.js';
import { Clock, ExpiryClock } from '../../src/retention/index.js';
import { ActiveRuns } from '../../src/tasks/active-run.js';
import { EventFeed } from '../../src/tasks/event-feed.js';
import { TaskHooks } from '../../src/tasks/hooks/task-hooks.js';
import { TaskListeners } from '../../src/tasks/hooks/task-listeners.js';
import { TaskRecorders } from '../../src/tasks/hooks/task-recorders.js';
import { TaskUnits } from '../../src/tasks/hooks/task-units.js';
import { IdempotencyKeys } from '../../src/tasks/idempotency-keys.js';
import { TaskCancellation } from '../../src/tasks/task-cancellation.js';
import { TaskClaims } from '../../src/tasks/task-claims.js';
import type { TaskDraft } from '../../src/tasks/task-drafts.js';
import { TaskEventStream } from '../../src/tasks/task-event-stream.js';
import { OwnerSweep } from '../../src/tasks/owner-sweep.js';
import { RunnerLoss } from '../../src/tasks/runner-loss.js';
import { TaskEnd } from '../../src/tasks/task-end.js';
import { TaskExecution } from '../../src/tasks/task-execution.js';
import { TaskHandlers } from '../../src/tasks/task-handlers.js';
import { TaskJournal } from '../../src/tasks/task-journal.js';
import { TaskLifecycleService } from '../../src/tasks/task-lifecycle.service.js';
import { readEvents, type StoredEvent } from '../../src/tasks/task-log.js';
import { TaskNews } from '../../src/tasks/task-news.js';
import { TaskQueries } from '../../src/tasks/task-queries.js';
import { TaskRecovery } from '../../src/tasks/task-recovery.js';
import { TaskRunner } from '../../src/tasks/task-runner.js';
import { TaskSettlement } from '../../src/tasks/task-settlement.js';
import { TaskStart } from '../../src/tasks/task-start.js';
import { TaskStop } from '../../src/tasks/task-stop.js';
import type { TaskStatus } from '../../src/tasks/task-transitions.js';
import { taskFromRow, type Claim, type Task, type TaskRow } from '../../src/tasks/task.js';
import { logFaults } from '../../src/testing/log-invariants.js';
import { ScriptedHandler } from './scripted-handler.js';
import { openTestStore, type TestStore } from './store.js';

/** The statuses of WIRE B4, and a running task that waits for take-up. */
export type Found = TaskStatus | 'unowned';

/** A promise that a test settles. */
export interface Deferred<T = void> {
  promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

export function deferred<T = void>(): Deferred<T> {
  const made = {} as Deferred<T>;
  made.promise = new Promise<T>((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

/** Names the attempt that the row is in. */
export function claimOf(task: Task): Claim {
  return { taskId: task.id, attempt: task.attempt, owner: task.owner ?? 'nobody' };
}

/** The tasks module on a real store, without HTTP: what tests of the lifecycle work with. */
export class TaskLab {
  readonly handlers: TaskHandlers;
  readonly handler = new ScriptedHandler();
  readonly notices = new Notices();
  readonly feed = new EventFeed();
  readonly recorders = new TaskRecorders();
  readonly listeners = new TaskListeners(this.notices);
  readonly active = new ActiveRuns();
  readonly journal: TaskJournal;
  readonly clock: ExpiryClock;
  readonly keys: IdempotencyKeys;
  readonly units: TaskUnits;
  readonly lifecycle: TaskLifecycleService;
  readonly settlement: TaskSettlement;
  readonly sweep: OwnerSweep;
  readonly runner: TaskRunner;
  readonly stream: TaskEventStream;
  readonly cancellation: TaskCancellation;
  readonly recovery: TaskRecovery;
  readonly queries: TaskQueries;
  readonly stop: TaskStop;

  private constructor(
    readonly opened: TestStore,
    config: Config,
  ) {
    const { units: plain, reader } = opened.store;
    const hooks = new TaskHooks(this.recorders, this.listeners);
    const units = (this.units = new TaskUnits(plain, hooks, this.recorders, this.notices));
    this.handlers = new TaskHandlers(config);
    this.handlers.register(this.handler);
    this.journal = new TaskJournal(plain, this.feed, this.notices, config);
    this.clock = new ExpiryClock(plain, new Clock(), this.notices);
    this.keys = new IdempotencyKeys(reader, this.clock, config);
    const news = new TaskNews(this.feed, this.notices);
    this.lifecycle = new TaskLifecycleService(this.handlers, this.journal, this.keys, hooks, news);
    this.settlement = new TaskSettlement(units, this.lifecycle, this.journal, this.notices);
    const loss = new RunnerLoss(this.lifecycle, this.handlers);
    this.sweep = new OwnerSweep(reader, units, loss, this.active, this.notices);
    const execution = new TaskExecution(
      new TaskStart(this.settlement, this.lifecycle),
      new TaskEnd(this.settlement, this.lifecycle, this.journal, loss),
      this.journal,
      this.notices,
      config,
    );
    const claims = new TaskClaims(reader, units, this.handlers, this.lifecycle, this.notices);
    this.runner = new TaskRunner(claims, execution, this.active, this.sweep, this.notices);
    this.handler.freed = () => this.runner.wake('scripted', null);
    this.stream = new TaskEventStream(reader, this.feed, config);
    this.cancellation = new TaskCancellation(units, this.lifecycle, this.active, this.stream, config);
    this.recovery = new TaskRecovery(units, reader, this.lifecycle, this.notices);
    this.queries = new TaskQueries(reader);
    this.stop = new TaskStop(units, this.lifecycle, this.runner, this.settlement, this.journal);
  }

  static async open(env: Record<string, string> = {}, dataDir?: string): Promise<TaskLab> {
    const opened = await openTestStore(dataDir === undefined ? {} : { dataDir });
    const lab = new TaskLab(opened, loadConfig(env));
    await lab.clock.onModuleInit();
    await opened.store.units.run((tx) =>
      tx.execute(`INSERT OR IGNORE INTO clients (id, name, owner, scopes, created_at)
      VALUES ('cli_test', 'test', 0, '[]', 1)`),
    );
    return lab;
  }

  get store(): Store {
    return this.opened.store;
  }

  async close(): Promise<void> {
    await this.runner.stopClaiming();
    for (const run of this.runner.runs()) run.stop();
    await this.runner.idle();
    await this.opened.close();
  }

  draft(overrides: Partial<TaskDraft> = {}): TaskDraft {
    return {
      id: newIdentifier('task'),
      type: 'scripted',
      clientId: 'cli_test',
      responseId: null,
      model: null,
      onRestart: 'retry',
      background: true,
      input: null,
      metadata: {},
      maxInterruptions: 3,
      view: JSON.stringify({ task: { status: 'queued' } }),
      ...overrides,
    };
  }

  /** Row 1 for one task. */
  async create(overrides: Partial<TaskDraft> = {}): Promise<Task> {
    const draft = this.draft(overrides);
    const [task] = await this.write((tx) => this.lifecycle.enqueue(tx, [draft]));
    if (!task) throw new Error('no task was created');
    return task;
  }

  /** A task that legal transitions have brought into a state. */
  async bring(found: Found, overrides: Partial<TaskDraft> = {}): Promise<Task> {
    const { id } = await this.create(overrides);
    for (const step of WAYS[found]) {
      const before = await this.task(id);
      await this.write((tx) => step(this.lifecycle, tx, before));
    }
    return this.task(id);
  }

  /** Row and log, for "nothing has changed". */
  async found(id: string): Promise<{ task: Task; events: StoredEvent[] }> {
    return { task: await this.task(id), events: await this.events(id) };
  }

  /** Faults of the logs of all tasks in the store. */
  async faults(): Promise<string[]> {
    const rows = await this.store.reader.query<{ id: string }>('select id from tasks');
    const faults: string[] = [];
    for (const { id } of rows) {
      const { task, events } = await this.found(id);
      faults.push(...logFaults(task, events).map(({ what }) => `${id}: ${what}`));
    }
    return faults;
  }

  async types(id: string): Promise<string[]> {
    return (await this.events(id)).map((event) => event.type);
  }

  /** What the next process finds: a new lab on the same file; this one is closed. */
  async reopened(env: Record<string, string> = {}): Promise<TaskLab> {
    await this.store.close();
    return TaskLab.open(env, this.opened.dataDir);
  }

  /** From now on every event meets SQLITE_FULL: the file may not grow, and each asks for more than is free in it. */
  async fillDisk(): Promise<void> {
    await this.write(async (tx) => {
      await tx.execute('CREATE TABLE IF NOT EXISTS ballast (bytes)');
      await tx.execute(`CREATE TRIGGER disk_full AFTER INSERT ON task_events
        BEGIN INSERT INTO ballast VALUES (zeroblob(4000000)); END`);
    });
    await this.write(async (tx) => {
      const rows = await tx.query<{ page_count: number }>('PRAGMA page_count');
      await tx.query(`PRAGMA max_page_count = ${rows[0]?.page_count ?? 0}`);
    });
  }

  /** The disk has room again. */
  async freeDisk(): Promise<void> {
    await this.write(async (tx) => {
      await tx.query('PRAGMA max_page_count = 1000000');
      await tx.execute('DROP TRIGGER disk_full');
    });
  }

  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.units.run(work);
  }

  async task(id: string): Promise<Task> {
    const [row] = await this.store.reader.query<TaskRow>('select * from tasks where id = ?', [id]);
    if (!row) throw new Error(`no task ${id}`);
    return taskFromRow(row);
  }

  events(id: string): Promise<StoredEvent[]> {
    return readEvents(this.store.reader, id, -1, 100_000);
  }
}

type Way = (lifecycle: TaskLifecycleService, tx: Tx, task: Task) => Promise<Task>;

const start: Way = (lifecycle, tx, { id }) => lifecycle.start(tx, id, 'run_1');
const complete: Way = (lifecycle, tx, task) => lifecycle.complete(tx, claimOf(task), null);
const fail: Way = (lifecycle, tx, task) =>
  lifecycle.fail(tx, claimOf(task), { type: 'server_error', code: 'model_error', message: 'it broke', param: null });

const WAYS: Record<Found, Way[]> = {
  queued: [],
  loading: [(lifecycle, tx, { id }) => lifecycle.startLoading(tx, id, 'run_1')],
  running: [start],
  unowned: [
    start,
    (lifecycle, tx, task) => lifecycle.interruptLost(tx, claimOf(task), { interruptions: 1, suspicion: 0 }),
  ],
  cancelling: [start, (lifecycle, tx, { id }) => lifecycle.requestCancel(tx, id)],
  completed: [start, complete],
  failed: [start, fail],
  cancelled: [(lifecycle, tx, { id }) => lifecycle.cancelQueued(tx, id)],
};
