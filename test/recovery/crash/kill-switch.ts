import { watch, type FSWatcher } from 'node:fs';
import { liveRunnersOf } from '../../support/runners.js';
import type { ServiceProcess } from '../../support/service-process.js';

/**
 * Moments that can be told from outside, without any code of the harness in the service: what a client sends and sees,
 * and the n-th time the write-ahead log grows.
 */
export const RUNNING_POINTS = [
  'time',
  'sent',
  'accepted',
  'loading',
  'running',
  'token',
  'cancelling',
  'ended',
  'write',
] as const;
export const START_POINTS = ['start-time', 'start-write', 'recovering'] as const;
export type KillPoint = (typeof RUNNING_POINTS)[number] | (typeof START_POINTS)[number] | 'paused';

/** `service`: its model processes are orphans; `group`: everything dies together; `runner-first`: the model processes alone, then it. */
export const SCOPES = ['service', 'group', 'runner-first'] as const;
export type KillScope = (typeof SCOPES)[number];

export interface KillPlan {
  point: KillPoint;
  /** Which occurrence, or how many milliseconds after it. */
  n: number;
  scope: KillScope;
  /**
   * Killed although the point was not met: so long after the first token that a client saw, milliseconds, or after
   * PATIENCE times as long without one. A slow machine gets as far as a fast one.
   */
  limitMs: number;
}

const PATIENCE = 8;
const DELTA = 'response.output_text.delta';

/** Kills the service once, at the moment its plan names. */
export class KillSwitch {
  /** The plan's moment came, rather than its time limit. */
  met = false;
  private count = 0;
  private worked = false;
  private armed = false;
  private fired = false;
  private dead = false;
  private readonly timers = new Set<NodeJS.Timeout>();
  private watcher: FSWatcher | null = null;
  private onDead: () => void = () => undefined;
  readonly killed = new Promise<void>((resolve) => (this.onDead = resolve));

  constructor(
    private readonly plan: KillPlan,
    private readonly service: ServiceProcess,
  ) {}

  /** The service is alive as far as anybody can know. */
  get alive(): boolean {
    return !this.dead;
  }

  /** Until then nothing that is seen kills. */
  arm(): void {
    const { point, n, limitMs } = this.plan;
    this.armed = true;
    this.after(limitMs * PATIENCE, () => this.fire());
    if (point === 'time' || point === 'start-time') this.after(n, () => this.meet());
    if (point === 'write' || point === 'start-write') this.watchWrites();
  }

  /** A create has left its client. */
  sent(): void {
    if (this.plan.point === 'sent') this.after(this.plan.n, () => this.meet());
  }

  /** The head of an answer has come. */
  head(status: number): void {
    if (this.plan.point === 'accepted' && status === 202) this.occur();
  }

  /** A client has seen an event; `status` is that of a lifecycle event's snapshot. */
  event(type: string, status: string | null): void {
    if (!this.armed) return;
    const { point, limitMs } = this.plan;
    if (type === DELTA && !this.worked) {
      this.worked = true;
      this.after(limitMs, () => this.fire());
    }
    if (point === 'token' && type === DELTA) this.occur();
    if (point === status) this.occur();
    if (point === 'ended' && (status === 'completed' || status === 'failed' || status === 'cancelled')) this.occur();
  }

  /** Something else that the plan waited for was seen. */
  meet(): void {
    this.met ||= !this.fired;
    this.fire();
  }

  private occur(): void {
    this.count += 1;
    if (this.count >= this.plan.n) this.meet();
  }

  private watchWrites(): void {
    this.watcher = watch(this.service.dataDir, (_event, name) => {
      if (name === 'lmsp.sqlite-wal') this.occur();
    });
  }

  private after(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      work();
    }, ms);
    this.timers.add(timer);
  }

  /** In the turn of the moment itself: not one more message is read. */
  private fire(): void {
    if (this.fired) return;
    this.fired = true;
    if (this.plan.scope !== 'runner-first') {
      this.kill();
      return;
    }
    void liveRunnersOf(this.service.dataDir).then((pids) => {
      for (const pid of pids) signal(pid, 'SIGKILL');
      this.after(this.plan.n % LONGEST_GAP_MS, () => this.kill());
    });
  }

  private kill(): void {
    const { pid, exitCode, signalCode } = this.service.child;
    const ended = exitCode !== null || signalCode !== null;
    this.dead = true;
    for (const timer of this.timers) clearTimeout(timer);
    this.watcher?.close();
    if (pid !== undefined && !ended) signal(this.plan.scope === 'group' ? -pid : pid, 'SIGKILL');
    void this.service.exit().then(() => this.onDead());
  }
}

/** Between the death of the runners and that of the service, at most. */
const LONGEST_GAP_MS = 150;

/** Ends or halts a process that may be gone already. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
