import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunner, liveRunnersOf } from '../../support/runners.js';
import { ServiceProcess, type ServiceOptions } from '../../support/service-process.js';
import { Connection } from './connection.js';
import type { Meeting } from './follower.js';
import { KillSwitch, signal, type KillPlan } from './kill-switch.js';
import type { Load } from './load.js';
import type { Life } from './checker.js';
import type { Violation } from './rules/violation.js';

/** What came of one start of the service that ended with a kill. */
export interface LivedLife extends Life {
  /** The plan's moment came. */
  met: boolean;
  violations: Violation[];
}

export interface Leftovers {
  /** Tasks that have not ended. */
  open: number;
  /** One that recovery must fail: nobody may see it otherwise once the port is open. */
  doomed: string | null;
}

const POLL_MS = 4;
/** Nothing that a kill does to a service is an error of its own. */
const ERROR = /"level":"(error|fatal)"/;
/** A 5xx is logged as one; what may be answered is checked where it is received. */
const ANSWERED = '"msg":"request answered"';
/** As the service tells of model processes that were killed before it. */
const LOST = 'the runner ended with signal SIGKILL';

/** Starts the service on the directory and kills it as planned; the load works meanwhile where the plan leaves it time. */
export async function live(
  options: ServiceOptions & { dataDir: string },
  plan: KillPlan,
  load: Load,
  leftovers: Leftovers,
): Promise<LivedLife> {
  const orphans = await liveRunnersOf(options.dataDir);
  const paused = plan.point === 'paused';
  const env = { ...options.env, ...(paused && { LMSP_MAX_ROWS: '0' }) };
  const service = await ServiceProcess.launch({ ...options, env });
  const kill = new KillSwitch(plan, service);
  const life: LivedLife = { recovered: false, paused, met: false, violations: [] };
  const note = (rule: string, what: string): void => void life.violations.push({ subject: 'service', rule, what });
  const starting = isStartPoint(plan);
  if (starting) kill.arm();
  const probe = probeOldState(service, kill, leftovers.doomed, note);
  const ready = await service.ready().then(
    () => true,
    (error: unknown) => {
      if (kill.alive && !starting) note('R6', `it did not start: ${String(error)}`);
      return false;
    },
  );
  await probe;
  if (ready && !starting) {
    life.recovered = true;
    for (const pid of orphans)
      if (await isRunner(pid)) note('B6', `the model process ${pid} of a former start is alive`);
    if (paused) kill.meet();
    else await work(service, kill, plan, load, leftovers.open);
  }
  if (starting && ready) kill.meet();
  await kill.killed;
  life.met = kill.met;
  const mayBeLost = plan.scope === 'runner-first';
  const lines = service.output.split('\n').filter((line) => ERROR.test(line) && !line.includes(ANSWERED));
  const error = lines.find((line) => !(mayBeLost && line.includes(LOST)));
  if (error !== undefined) note('log', error);
  return life;
}

function isStartPoint({ point }: KillPlan): boolean {
  return point === 'start-time' || point === 'start-write' || point === 'recovering';
}

async function work(
  service: ServiceProcess,
  kill: KillSwitch,
  plan: KillPlan,
  load: Load,
  open: number,
): Promise<void> {
  const connection = new Connection(service);
  const meeting: Meeting = { connection, kill };
  kill.arm();
  const catching = plan.point === 'cancelling' ? catchCancelling(service.dataDir, meeting, load) : null;
  await load.run(meeting, open);
  await catching;
  connection.close();
}

/**
 * A step is too short to be hit between a cancel and its end. So the model process is halted, as a busy machine or a
 * slow step would hold it: the cancel is accepted, its end is not written, and then the service dies.
 */
async function catchCancelling(dataDir: string, meeting: Meeting, load: Load): Promise<void> {
  const { kill } = meeting;
  while (kill.alive) {
    await delay(POLL_MS * 5);
    const [target] = load.running;
    if (target === undefined || !kill.alive) continue;
    const runners = await liveRunnersOf(dataDir);
    for (const pid of runners) signal(pid, 'SIGSTOP');
    // Its answer waited for the end in vain: the row says cancelling. Else the task had ended, or never ran.
    if ((await load.cancel(meeting, target)) === 'cancelling') kill.meet();
    else for (const pid of runners) signal(pid, 'SIGCONT');
  }
}

/** Once the port is open, a task that recovery fails is refused (service_recovering) or shown as failed. */
async function probeOldState(
  service: ServiceProcess,
  kill: KillSwitch,
  doomed: string | null,
  note: (rule: string, what: string) => void,
): Promise<void> {
  const token = await readFile(`${service.dataDir}/owner-token`, 'utf8').catch(() => null);
  while (kill.alive && service.token === '') {
    await delay(POLL_MS);
    const file = await readFile(`${service.dataDir}/service.json`, 'utf8').catch(() => null);
    if (file === null || file === '') continue;
    const { url } = JSON.parse(file) as { url: string };
    const headers = { authorization: `Bearer ${token?.trim()}` };
    const readiness = await fetch(`${url}/ready`).catch(() => null);
    const { reason = '' } = ((await readiness?.json().catch(() => null)) ?? {}) as { reason?: string };
    if (reason.startsWith('recovering')) kill.event('', 'recovering');
    if (doomed === null) continue;
    const answer = await fetch(`${url}/v1/tasks/${doomed}`, { headers }).catch(() => null);
    const body = ((await answer?.json().catch(() => null)) ?? {}) as { status?: string; error?: { code: string } };
    if (answer?.status === 200 && body.status !== 'failed')
      note('R6', `${doomed} was shown ${body.status} at the start`);
    if (answer && answer.status !== 200 && body.error?.code !== 'service_recovering')
      note('B6', `${doomed} was answered ${answer.status} ${body.error?.code} at the start`);
  }
}
