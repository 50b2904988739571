import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { CONFIG, configWarnings, serviceVersion, type Config } from './config/index.js';
import { Store } from './database/index.js';
import { LoadedExtensions } from './extensions/index.js';
import { EventStreams, TlsCertificate } from './http/index.js';
import { endLeftoverRunners, PROMPT_CODEC, runnersDirectory, type PromptCodec } from './inference/index.js';
import { ModelResidency } from './models/index.js';
import { Notices } from './notices/index.js';
import {
  MetricsListener,
  Readiness,
  removeServiceFile,
  SERVICE_IDENTITY,
  StoreCare,
  writeServiceFile,
  type ServiceIdentity,
} from './operations/index.js';
import { EphemeralResponses } from './responses/index.js';
import { ExpiryClock, RetentionSchedule } from './retention/index.js';
import { QueueTimeout, RevokedWork, TaskRecovery, TaskRunner, TaskStop } from './tasks/index.js';

/** Answers that are being written when everything else has ended get this long to reach their clients. */
const LAST_ANSWERS_MS = 2000;

const KEEP_ALIVE_MS = 1000;

/** Leads an initialised application from its port to its end: the order of WIRE B6. */
export class Service {
  private readonly config: Config;
  private readonly notices: Notices;
  private readonly readiness: Readiness;
  private failed = false;

  constructor(private readonly app: NestExpressApplication) {
    this.config = app.get<Config>(CONFIG);
    this.notices = app.get(Notices);
    this.readiness = app.get(Readiness);
  }

  /** Opens the port, recovers what a former process left, then lets work in. Resolves with the base address. */
  async start(): Promise<string> {
    this.notices.emit('service.starting', { version: serviceVersion(), pid: process.pid, node: process.version });
    for (const warning of configWarnings(this.config)) this.notices.emit('config.warning', warning);
    this.app.get(LoadedExtensions).tell();
    this.app.get(ExpiryClock).start();
    this.tellUpgrade();
    this.app.get(StoreCare).start();
    await endLeftoverRunners(runnersDirectory(this.config));
    const url = await this.listen();
    try {
      await this.letWorkIn();
    } catch (error) {
      // A stop that arrives during recovery closes the store under it.
      if (!this.readiness.isStopping) throw error;
    }
    return url;
  }

  private tellUpgrade(): void {
    const { upgrade } = this.app.get(Store);
    if (upgrade === null) return;
    this.notices.emit('store.upgraded', {
      migrations: upgrade.migrations.join(', '),
      copy: upgrade.copy,
      duration_ms: Math.round(upgrade.durationMs),
    });
  }

  private async letWorkIn(): Promise<void> {
    const report = await this.app.get(TaskRecovery).run((done, total) => this.readiness.recovering(done, total));
    await this.app.get(RevokedWork).sweep();
    if (this.readiness.isStopping) return;
    this.readiness.ready();
    void this.app.get(ModelResidency).loadPinned();
    await this.app.get(TaskRunner).start();
    await this.app.get(QueueTimeout).start();
    this.app.get(RetentionSchedule).start();
    this.notices.emit('service.ready', { recovered: report.total });
  }

  /** The clean stop: no background task is cancelled or failed by it. */
  async stop(signal: string): Promise<void> {
    // What a stop waits for may hold no handle of its own; without one node would end before the stop has.
    const alive = setInterval(() => undefined, KEEP_ALIVE_MS);
    try {
      await this.end(signal);
    } finally {
      clearInterval(alive);
    }
  }

  private async end(signal: string): Promise<void> {
    const { dataDir, stopGraceSeconds } = this.config;
    this.notices.emit('service.stopping', { signal, grace_seconds: stopGraceSeconds });
    this.readiness.stopping();
    const tasks = this.app.get(TaskStop);
    await this.stage('stop the time limit of waiting', () => this.app.get(QueueTimeout).stop());
    await this.stage('stop claiming', () => tasks.stopClaiming());
    await this.stage('stop retention', () => this.app.get(RetentionSchedule).stop());
    await this.stage('close readers', () => this.app.get(EventStreams).closeReaders());
    await this.stage('finish foreground work', () => this.finishForeground(tasks, stopGraceSeconds * 1000));
    // The runs end because their model processes do; both wait for each other's other half.
    await this.stage('end runs', () => Promise.all([tasks.endRuns(), this.app.get(ModelResidency).stop()]));
    await this.stage('close the server', () => this.closeServer());
    await this.stage('close the prompt codec', () => this.app.get<PromptCodec>(PROMPT_CODEC).close());
    await this.stage('note the time', () => this.app.get(ExpiryClock).stop());
    await this.stage('end the care of the store', () => this.app.get(StoreCare).stop());
    await this.stage('close the store', () => this.app.get(Store).close());
    await this.stage('remove service.json', () => removeServiceFile(dataDir));
    this.notices.emit('service.stopped', { exit_code: this.failed ? 1 : 0 });
    if (this.failed) throw new Error('the stop was not clean; the next start recovers what is left');
  }

  /** A stage that fails is told and makes the exit code 1; the stages after it still run. */
  private async stage(stage: string, work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.failed = true;
      this.notices.emit('stop.failed', { stage, error });
    }
  }

  private async finishForeground(tasks: TaskStop, graceMs: number): Promise<void> {
    const unstored = this.app.get(EphemeralResponses);
    await Promise.all([
      tasks.finishForeground(graceMs),
      Promise.race([unstored.idle(), delay(graceMs, undefined, { ref: false })]),
    ]);
  }

  private async listen(): Promise<string> {
    const { host, dataDir } = this.config;
    await this.app.listen(this.config.port, host);
    const { port } = this.app.getHttpServer().address() as AddressInfo;
    this.app.get(TlsCertificate).watch(this.app.getHttpServer());
    const url = serviceUrl(this.config, port);
    const identity = this.app.get<ServiceIdentity>(SERVICE_IDENTITY);
    await writeServiceFile(dataDir, {
      url,
      pid: process.pid,
      instance_id: identity.instanceId,
      version: serviceVersion(),
      started_at: identity.startedAt,
    });
    await this.app.get(MetricsListener).open();
    this.notices.emit('service.listening', { url, host, port, data_dir: dataDir });
    return url;
  }

  private async closeServer(): Promise<void> {
    const server = this.app.getHttpServer();
    this.app.get(TlsCertificate).stop();
    this.app.get(MetricsListener).close();
    const answered = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    await Promise.race([answered, delay(LAST_ANSWERS_MS, undefined, { ref: false })]);
    this.app.get(EventStreams).closeAll();
    await this.app.close();
  }
}

/** How programs on this machine reach the service: an address that stands for all is none to call. */
function serviceUrl({ host, tlsCertFile }: Config, port: number): string {
  const called = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `${tlsCertFile === '' ? 'http' : 'https'}://${called.includes(':') ? `[${called}]` : called}:${port}`;
}
