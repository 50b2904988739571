import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../../support/random.js';
import { registerPocketQ4 } from '../../support/second-model.js';
import { ServiceProcess, type ServiceOptions } from '../../support/service-process.js';
import { readStoreImage } from '../../support/store-image.js';
import { waitFor } from '../../support/wait-for.js';
import { findAbilities, type Abilities } from './abilities.js';
import { Checker } from './checker.js';
import { Connection } from './connection.js';
import { Figures } from './figures.js';
import { drawPlan } from './kill-plans.js';
import { KillSwitch } from './kill-switch.js';
import { live } from './life.js';
import { Load } from './load.js';
import { Observations } from './observations.js';
import { takeReferences, type References } from './reference.js';
import type { Violation } from './rules/violation.js';

export const MODELS = ['pocket', 'pocket-q4'] as const;
export type ModelName = (typeof MODELS)[number];

export interface CampaignOptions {
  kills: number;
  seed: number;
  model: ModelName;
  /** Longest time a service works before it is killed, milliseconds. */
  lifeMs: number;
  /** Compiled service instead of that of this tree. */
  main?: string;
  /** Ends the run after the first kill that shows one. */
  untilViolation?: boolean;
  progress?: (line: string) => void;
}

export interface CampaignReport {
  figures: Figures;
  abilities: Abilities;
  violations: Violation[];
}

/** Kills that one store outlives; then it must end all its tasks, and a new one begins. */
const KILLS_PER_STORE = 40;
const END_MS = 240_000;
const SHOWN_OUTPUT = 2000;

/**
 * Long enough to say who waits for whom, short enough to be seen: a task is given up after a few interruptions, and a
 * cancel does not wait for a halted model process. One thread: the machine has others to run.
 */
const ENV: Record<string, string> = {
  LMSP_LOG_LEVEL: 'error',
  LMSP_THREADS: '1',
  LMSP_MAX_ROWS: '6',
  LMSP_MAX_INTERRUPTIONS: '6',
  LMSP_CANCEL_WAIT_MS: '150',
};

/** Kills the service again and again while clients work, and proves after each kill that nothing is lost (CASES BL-01, BL-02, BL-27). */
export class Campaign {
  private readonly random: Random;
  private readonly figures = new Figures();
  private readonly violations: Violation[] = [];
  private readonly setup: ServiceOptions;

  constructor(private readonly options: CampaignOptions) {
    this.random = new Random(options.seed);
    // Two kernel classes give two answers to one request, unless a lone row is kept company (ENGINE 2.8).
    const env = options.model === 'pocket-q4' ? { ...ENV, LMSP_BATCH_INVARIANT: 'true' } : ENV;
    this.setup = { env, ...(options.main !== undefined && { command: [process.execPath, options.main] }) };
  }

  async run(): Promise<CampaignReport> {
    const { abilities, references } = await this.prepare();
    while (this.figures.kills < this.options.kills && !this.enough) await this.oneStore(references, abilities);
    return { figures: this.figures, abilities, violations: this.violations };
  }

  private async prepare(): Promise<{ abilities: Abilities; references: References }> {
    const { model } = this.options;
    const service = await ServiceProcess.start({ ...this.setup, dataDir: await this.newStore() });
    try {
      return { abilities: await findAbilities(service, model), references: await takeReferences(service, model) };
    } finally {
      await service.dispose();
    }
  }

  private get enough(): boolean {
    return this.options.untilViolation === true && this.violations.length > 0;
  }

  private async newStore(): Promise<string> {
    const dataDir = await mkdtemp(join(tmpdir(), 'lmsp-crash-'));
    if (this.options.model === 'pocket-q4') await registerPocketQ4(dataDir);
    return dataDir;
  }

  private async oneStore(references: References, abilities: Abilities): Promise<void> {
    const dataDir = await this.newStore();
    const observations = new Observations();
    const checker = new Checker(references, observations);
    const load = new Load(this.random, observations, { model: this.options.model, ...abilities });
    const last = Math.min(this.options.kills, this.figures.kills + KILLS_PER_STORE);
    try {
      while (this.figures.kills < last && !this.enough) await this.oneKill(dataDir, load, checker);
      if (!this.enough) await this.finish(dataDir, load, checker, observations);
    } finally {
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
    }
  }

  private async oneKill(dataDir: string, load: Load, checker: Checker): Promise<void> {
    const plan = drawPlan(this.random, this.options);
    const { unfinished } = checker;
    const doomed = unfinished.find(({ task }) => task.status !== 'cancelling' && task.onRestart === 'fail');
    const leftovers = { open: unfinished.length, doomed: doomed?.task.id ?? null };
    const life = await live({ ...this.setup, dataDir }, plan, load, leftovers);
    const image = await readStoreImage(dataDir, checker.known);
    this.note([...life.violations, ...checker.afterKill(image, life)]);
    const { figures } = this;
    figures.kills += 1;
    if (life.recovered) figures.restarts += 1;
    const point = life.met ? plan.point : 'late';
    figures.points[point] = (figures.points[point] ?? 0) + 1;
    this.options.progress?.(
      `kill ${figures.kills} at ${plan.point}${life.met ? '' : ' (not met)'}: ${this.violations.length} violations`,
    );
  }

  /** Nobody kills any more: everything ends, and everything is read. */
  private async finish(dataDir: string, load: Load, checker: Checker, observations: Observations): Promise<void> {
    const service = await ServiceProcess.start({ ...this.setup, dataDir });
    try {
      await this.untilAllEnded(service, load);
      service.signal('SIGTERM');
      const code = await service.exit();
      if (code !== 0) this.note([{ subject: 'service', rule: 'B6', what: `the clean stop ended with ${code}` }]);
    } catch (error) {
      const what = `${String(error)}; its output ends with: ${service.output.slice(-SHOWN_OUTPUT)}`;
      this.note([{ subject: 'service', rule: 'R6', what }]);
    } finally {
      if (service.child.exitCode === null) service.signal('SIGKILL');
      await service.exit();
    }
    this.figures.restarts += 1;
    const image = await readStoreImage(dataDir);
    this.note(checker.atEnd(image, { recovered: true, paused: false }));
    this.figures.add(image, observations);
  }

  private async untilAllEnded(service: ServiceProcess, load: Load): Promise<void> {
    const connection = new Connection(service);
    const kill = new KillSwitch({ point: 'time', n: 0, scope: 'service', limitMs: 0 }, service);
    await load.takeUp({ connection, kill });
    const open = '/v1/tasks?status=queued,loading,running,cancelling&limit=1';
    const ended = async (): Promise<boolean> =>
      (await service.json<{ data: unknown[] }>('GET', open)).data.length === 0;
    await waitFor('every task to end', ended, END_MS);
    connection.close();
  }

  private note(violations: Violation[]): void {
    this.violations.push(...violations);
  }
}
