import type { Random } from '../../support/random.js';
import { RUNNING_POINTS, SCOPES, START_POINTS, type KillPlan } from './kill-switch.js';

/** Longest work of a service before it is killed, milliseconds. */
export interface Pace {
  lifeMs: number;
}

/** A start takes about so long, from its spawn to its first claims. */
const START_MS = 2500;
const START_WRITES = 12;
const WRITES = 60;
const TOKENS = 250;
const SOON_MS = 30;

/** Two of three kills hit a service at work, the others one that starts or has just recovered. */
export function drawPlan(random: Random, { lifeMs }: Pace): KillPlan {
  const scope = random.weighted({ service: 5, group: 3, 'runner-first': 2 });
  const phase = random.weighted({ work: 8, start: 3, paused: 2 });
  if (phase === 'paused') return { point: 'paused', n: 0, scope: random.pick(SCOPES), limitMs: 0 };
  if (phase === 'start') {
    const point = random.pick(START_POINTS);
    const n = point === 'start-time' ? random.between(1, START_MS) : random.between(1, START_WRITES);
    return { point, n, scope, limitMs: START_MS };
  }
  const point = random.pick(RUNNING_POINTS);
  const most = { time: lifeMs, sent: SOON_MS, token: TOKENS, write: WRITES, ended: 6, accepted: 4 };
  const n = random.between(1, most[point as keyof typeof most] ?? 3);
  return { point, n, scope, limitMs: lifeMs };
}
