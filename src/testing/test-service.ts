import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { loadConfig } from '../config/index.js';
import { createApp } from '../create-app.js';
import { Store } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import type { Extension } from '../extension.js';
import { declaredBy } from '../extensions/index.js';
import { Notices } from '../notices/index.js';
import { ExpiryClock, RetentionRunner } from '../retention/index.js';
import { Service } from '../service.js';
import { isTerminal, type TaskObject } from '../tasks/index.js';
import { Failures, type Failure } from './failures.js';
import { FakeClock } from './fake-clock.js';
import { copyOfData, temporaryFolder } from './store-copy.js';
import { openStoredLogs } from './stored-logs.js';
import { TestEngine } from './test-engine.js';
import { waitFor } from './wait-for.js';

export interface TestServiceOptions {
  extensions?: readonly Extension[];
  /** Settings of the service and of extensions, by the names of their variables: `{ LMSP_MAX_ROWS: '1' }`. */
  settings?: Readonly<Record<string, string>>;
  /** By which things expire. It stands still unless the test moves it, also over a crash. */
  clock?: FakeClock;
}

export interface TestAnswer<T> {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON of the body; null where there is none. */
  readonly body: T;
}

const MINUTE_MS = 60_000;

type StartOptions = TestServiceOptions & { clock: FakeClock };

/** What one start of the application gives. */
interface Started {
  app: NestExpressApplication;
  service: Service;
  dataDir: string;
  url: string;
  token: string;
}

/** Starts the service with these extensions; `close` it at the end of the test. */
export function createTestService(options: TestServiceOptions = {}): Promise<TestService> {
  return TestService.start(options);
}

/**
 * The whole service in this process: real HTTP on a free port, real SQLite in a temporary folder, and a model double in the
 * place of every text model. Several may live at a time.
 */
export class TestService {
  private constructor(
    private readonly options: StartOptions,
    /** The model double: what it says is the test's to choose. */
    readonly engine: TestEngine,
    private readonly failed: Failures,
    private started: Started,
  ) {}

  static async start(given: TestServiceOptions): Promise<TestService> {
    const options = { clock: new FakeClock(), ...given };
    const [engine, failures] = [new TestEngine(), new Failures()];
    const dataDir = await temporaryFolder();
    try {
      return new TestService(options, engine, failures, await start(options, engine, failures, dataDir));
    } catch (error) {
      failures.leaveAll();
      await rm(dataDir, { recursive: true, force: true });
      throw error;
    }
  }

  /** Address of the service, without a slash at its end. Another one after each crash. */
  get url(): string {
    return this.started.url;
  }

  /** Token of the owner, who may do everything. */
  get token(): string {
    return this.started.token;
  }

  /** The Nest application, e.g. for `app.get(UnitOfWork, { strict: false })`. Another one after each crash. */
  get app(): NestExpressApplication {
    return this.started.app;
  }

  /** A request with the owner's token, unless `headers` have another; `body` is sent as JSON. */
  async request<T = unknown>(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<TestAnswer<T>> {
    const ours = { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' };
    const text = body === undefined ? undefined : JSON.stringify(body);
    const response = await fetch(`${this.url}${path}`, { method, headers: { ...ours, ...headers }, body: text });
    const answer = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (answer === '' ? null : JSON.parse(answer)) as T,
    };
  }

  /** Resolves with the task once it has ended, however. */
  async runToEnd(taskId: string, limitMs = 20_000): Promise<TaskObject> {
    const read = async (): Promise<TaskObject | null> => {
      const { status, body } = await this.request<TaskObject>('GET', `/v1/tasks/${taskId}`);
      if (status !== 200) throw new Error(`GET /v1/tasks/${taskId} answered ${status} ${JSON.stringify(body)}`);
      return isTerminal(body.status) ? body : null;
    };
    return waitFor(`the end of ${taskId}`, read, limitMs);
  }

  /**
   * `kill -9` and a new start: what is on disk at this moment is kept, and nothing else. The new application recovers from
   * it as a real start does. Code of extensions that ran in the old one cannot be killed within this process: its signals
   * abort, and what it still writes goes nowhere. Whatever the engine held is released.
   */
  async crashAndRestart(): Promise<void> {
    const { app, service, dataDir } = this.started;
    const copy = await copyOfData(app.get(Store), dataDir);
    this.failed.follow(new Notices());
    const closed = app.get(Store).close();
    this.engine.killAll();
    this.releaseEngine();
    await service.stop('kill -9').catch(() => undefined);
    await closed;
    await rm(dataDir, { recursive: true, force: true });
    this.started = await start(this.options, this.engine, this.failed, copy);
  }

  /** Lets so much time pass, and removes what is past its time then. */
  async letExpire(ms: number): Promise<void> {
    const expiry = this.app.get(ExpiryClock);
    this.options.clock.jump(ms);
    // After such a gap nothing expires for an hour of running time, which is counted by the minute.
    while (expiry.heldMs() > 0) this.options.clock.run(MINUTE_MS);
    const removed = async (): Promise<boolean> => {
      try {
        await this.app.get(RetentionRunner).run('operator');
        return true;
      } catch (error) {
        if (error instanceof DomainError && error.code === 'retention_in_progress') return false;
        throw error;
      }
    };
    await waitFor('the end of another run of retention', removed);
  }

  /**
   * What went wrong inside since the last call: errors behind a 500, of task types, recorders and listeners, and every rule of units of
   * work that was broken, even where somebody caught the error.
   */
  failures(): Failure[] {
    return this.failed.take();
  }

  /** Rejects unless every task in the store obeys every rule of task logs: numbers, ends, statuses, snapshots. */
  async checkLogs(): Promise<void> {
    const { app, dataDir } = this.started;
    const copy = await copyOfData(app.get(Store), dataDir);
    const { faults } = await openStoredLogs(copy);
    await rm(copy, { recursive: true, force: true });
    if (faults.length > 0) throw new Error(`the logs of tasks are wrong:\n${faults.join('\n')}`);
  }

  /** Stops the service and removes its folder. Rejects with the failures that no test has asked for. */
  async close(): Promise<void> {
    this.releaseEngine();
    await this.started.service.stop('close');
    this.failed.leaveAll();
    await rm(this.started.dataDir, { recursive: true, force: true });
    const failures = this.failures();
    if (failures.length === 0) return;
    const words = failures.map(({ where, error }) => `${where}: ${String(error)}`);
    throw new AggregateError(
      failures.map(({ error }) => error),
      `the test did not look at:\n${words.join('\n')}`,
    );
  }

  private releaseEngine(): void {
    for (const what of ['loads', 'steps', 'runs'] as const) this.engine.release(what);
  }
}

async function start(
  { extensions = [], settings = {}, clock }: StartOptions,
  engine: TestEngine,
  failures: Failures,
  dataDir: string,
): Promise<Started> {
  const env = {
    LMSP_PORT: '0',
    LMSP_DATA_DIR: dataDir,
    LMSP_BALLAST_BYTES: '0',
    LMSP_STOP_GRACE_SECONDS: '0',
    ...settings,
  };
  const config = loadConfig(env, declaredBy(extensions));
  const app = await createApp(config, { extensions, env, clock, engine, codec: engine.codec });
  failures.follow(app.get(Notices));
  const service = new Service(app);
  const url = await service.start();
  const token = (await readFile(join(dataDir, 'owner-token'), 'utf8')).trim();
  return { app, service, dataDir, url, token };
}
