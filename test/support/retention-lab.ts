import { SchedulerRegistry } from '@nestjs/schedule';
import { PairingRetention } from '../../src/clients/pairing-retention.js';
import { loadConfig, type Config } from '../../src/config/index.js';
import type { Store, Tx } from '../../src/database/index.js';
import { Notices, type NoticeTypes } from '../../src/notices/index.js';
import { ResponseRetention } from '../../src/responses/response-retention.js';
import { FreePages } from '../../src/retention/free-pages.js';
import {
  ExpiryClock,
  RetentionReports,
  RetentionRules,
  RetentionRunner,
  RetentionSchedule,
  type KindOutcome,
  type KindSurvey,
} from '../../src/retention/index.js';
import { PacedUnits } from '../../src/retention/paced-units.js';
import { RetentionSweep } from '../../src/retention/retention-sweep.js';
import { KeyRetention } from '../../src/tasks/key-retention.js';
import { TaskRetention } from '../../src/tasks/task-retention.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { insertTask, openTestStore, type TestStore } from './store.js';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

const ENDED = ['completed', 'failed', 'cancelled'];

export interface OldTask {
  id: string;
  status?: string;
  /** Milliseconds since its end, or since its creation where it has not ended. */
  age: number;
  events?: number;
  snapshots?: number;
  /** Bytes of each event. */
  size?: number;
  responseId?: string;
}

export interface OldResponse {
  id: string;
  /** Milliseconds since its end; null: unfinished. */
  age: number | null;
  previous?: string;
}

/** Retention with every rule of the product on a real store, and both clocks in the test's hand. */
export class RetentionLab {
  readonly finished: NoticeTypes['retention.finished'][] = [];
  readonly failed: NoticeTypes['retention.failed'][] = [];
  readonly rules = new RetentionRules();
  readonly tasks: TaskRetention;
  readonly expiry: ExpiryClock;
  readonly runner: RetentionRunner;
  readonly reports: RetentionReports;
  readonly schedule: RetentionSchedule;

  private constructor(
    private readonly opened: TestStore,
    readonly clock: FakeClock,
    config: Config,
  ) {
    const { units, reader } = opened.store;
    const notices = new Notices();
    notices.on('retention.finished', (notice) => void this.finished.push(notice));
    notices.on('retention.failed', (notice) => void this.failed.push(notice));
    this.tasks = new TaskRetention(this.rules, config);
    const others = [new KeyRetention(this.rules, config), new ResponseRetention(this.rules, config)];
    for (const rule of [this.tasks, ...others, new PairingRetention(this.rules)]) rule.onModuleInit();
    this.expiry = new ExpiryClock(units, clock, notices);
    const paced = new PacedUnits(units, config);
    const pages = new FreePages(config);
    const sweep = new RetentionSweep(this.rules, paced, pages, notices, config);
    this.runner = new RetentionRunner(sweep, paced, this.expiry, notices);
    this.reports = new RetentionReports(this.rules, reader, this.expiry, pages);
    this.schedule = new RetentionSchedule(this.runner, this.expiry, new SchedulerRegistry(), notices, config);
  }

  static async open(
    env: Record<string, string> = {},
    { clock = new FakeClock(), dataDir }: { clock?: FakeClock; dataDir?: string } = {},
  ): Promise<RetentionLab> {
    const opened = await openTestStore(dataDir === undefined ? {} : { dataDir });
    const lab = new RetentionLab(opened, clock, loadConfig({ LMSP_RETENTION_PAUSE_MS: '0', ...env }));
    await lab.expiry.onModuleInit();
    await lab.write((tx) =>
      tx.execute(`INSERT OR IGNORE INTO clients (id, name, owner, scopes, created_at)
        VALUES ('cli_test', 'test', 0, '[]', 1)`),
    );
    return lab;
  }

  get store(): Store {
    return this.opened.store;
  }

  get now(): number {
    return this.clock.wallMs();
  }

  /** What the next process finds; this one was killed. */
  async reopened(env: Record<string, string> = {}): Promise<RetentionLab> {
    await this.store.close();
    return RetentionLab.open(env, { clock: this.clock, dataDir: this.opened.dataDir });
  }

  async close(): Promise<void> {
    await this.schedule.stop();
    await this.opened.close();
  }

  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.store.units.run(work);
  }

  sql(statement: string, ...parameters: unknown[]): Promise<unknown> {
    return this.write((tx) => tx.execute(statement, parameters));
  }

  async count(table: string, condition = 'true'): Promise<number> {
    const [row] = await this.store.reader.query<{ n: number }>(`select count(*) as n from ${table} where ${condition}`);
    return row?.n ?? 0;
  }

  async ids(table: string, column = 'id'): Promise<string[]> {
    const rows = await this.store.reader.query<{ id: string }>(`select ${column} as id from ${table} order by 1`);
    return rows.map(({ id }) => id);
  }

  async survey(kind: string): Promise<KindSurvey> {
    const { kinds } = await this.reports.make();
    return kinds.find((survey) => survey.kind === kind)!;
  }

  /** A run by the operator; what it did to one kind. */
  async run(kind: string): Promise<KindOutcome> {
    const { kinds } = await this.runner.run('operator');
    return kinds.find((outcome) => outcome.kind === kind)!;
  }

  async addTask(task: OldTask): Promise<void> {
    const { id, status = 'completed', age, events = 3, snapshots = 1, size = 20, responseId = null } = task;
    const ended = ENDED.includes(status);
    await this.write(async (tx) => {
      const at = this.now - age;
      await insertTask(tx, {
        id,
        status,
        response_id: responseId,
        created_at: at,
        finished_at: ended ? at : null,
        last_sequence_number: events - 1,
      });
      await tx.execute(
        `INSERT INTO task_events (task_id, sequence_number, type, payload, created_at)
         SELECT ?, value, 'response.created', printf('%.*c', ?, 'x'), 1 FROM json_each(?)`,
        [id, size, numbers(events)],
      );
      await tx.execute(
        `INSERT INTO task_snapshots (task_id, start_count, last_sequence_number, payload)
         SELECT ?, 0, value, '[1]' FROM json_each(?)`,
        [id, numbers(snapshots)],
      );
    });
  }

  async addResponse({ id, age, previous }: OldResponse): Promise<void> {
    const status = age === null ? 'in_progress' : 'completed';
    await this.sql(
      `INSERT INTO responses (id, client_id, model, status, created_at, finished_at, body, body_sequence_number, input,
         previous_response_id) VALUES (?, 'cli_test', 'pocket', ?, 1, ?, '{}', 1, '[]', ?)`,
      id,
      status,
      age === null ? null : this.now - age,
      previous ?? null,
    );
  }

  /** An idempotency key that expires so many milliseconds from now. */
  async addKey(key: string, expiresIn: number, taskId: string | null = null): Promise<void> {
    await this.sql(
      `INSERT INTO idempotency_keys (client_id, method, route, key, fingerprint, task_id, created_at, expires_at)
       VALUES ('cli_test', 'POST', '/v1/responses', ?, 'f', ?, 1, ?)`,
      key,
      taskId,
      this.now + expiresIn,
    );
  }

  async addPairing(id: string, expiresIn: number, status = 'pending'): Promise<void> {
    await this.sql(
      `INSERT INTO pairings (id, device_code_hash, user_code_hash, client_name, software, scopes, address, status,
         interval_seconds, created_at, expires_at) VALUES (?, ?, ?, 'n', 's', '[]', 'a', ?, 5, 1, ?)`,
      id,
      id,
      id,
      status,
      this.now + expiresIn,
    );
  }
}

function numbers(count: number): string {
  return JSON.stringify(Array.from({ length: count }, (_, i) => i));
}
