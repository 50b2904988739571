/* eslint-disable no-console -- a command: what it prints is its purpose */
import { parseArgs } from 'node:util';
import { AnswerTrial } from './crash/answer-trial.js';
import { Campaign, MODELS, type ModelName } from './crash/campaign.js';
import { asLine } from './crash/rules/violation.js';

const USAGE =
  'usage: npm run soak -- --kills N [--seed S] [--model pocket|pocket-q4] [--life-ms MS]\n' +
  '       npm run soak -- --cut service|runner --kills N [--streams N] [--seed S] [--model pocket|pocket-q4]';
const SHOWN = 40;
const PROGRESS_EVERY = 10;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '30' },
    seed: { type: 'string' },
    model: { type: 'string', default: 'pocket' },
    'life-ms': { type: 'string', default: '1500' },
    cut: { type: 'string' },
    streams: { type: 'string', default: '1' },
    verbose: { type: 'boolean', default: false },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const lifeMs = Number(values['life-ms']);
const model = MODELS.find((name): name is ModelName => name === values.model);
if (model === undefined || ![kills, seed, lifeMs].every(Number.isSafeInteger)) {
  console.error(USAGE);
  process.exit(2);
}

if (values.cut !== undefined) {
  const victim = values.cut === 'runner' ? 'runner' : 'service';
  const streams = Number(values.streams);
  const env: Record<string, string> = streams > 1 ? { LMSP_BATCH_INVARIANT: 'true' } : {};
  const trial = await AnswerTrial.run({ kills, seed, model, streams, victim, env });
  console.log(JSON.stringify({ cut: victim, model, streams, seed, ...trial }));
  process.exit(trial.differences.length === 0 ? 0 : 1);
}

const started = performance.now();
let lines = 0;
const { figures, abilities, violations } = await new Campaign({
  kills,
  seed,
  model,
  lifeMs,
  progress: (line) => {
    if (values.verbose || ++lines % PROGRESS_EVERY === 0) console.log(line);
  },
}).run();
if (!abilities.policies.includes('resume')) console.log('the service refuses on_restart: resume; it was left out');
if (!abilities.idempotency) console.log('the service knows no Idempotency-Key; lost answers were not asked for again');
for (const violation of violations.slice(0, SHOWN)) console.log(asLine(violation));
const seconds = Math.round((performance.now() - started) / 1000);
console.log(JSON.stringify({ model, seed, ...figures, violations: violations.length, seconds }));
process.exit(violations.length === 0 ? 0 : 1);
