/* eslint-disable no-console -- a command: what it prints is its purpose */
import { parseArgs } from 'node:util';
import { AnswerTrial } from './crash/answer-trial.js';
import { Campaign, MODELS, type ModelName } from './crash/campaign.js';
import { makeMutant } from './crash/mutant.js';
import { MUTATIONS } from './crash/mutations.js';
import { asLine } from './crash/rules/violation.js';

const USAGE = `usage: npm run soak -- --kills N [--seed S] [--model pocket|pocket-q4] [--life-ms MS] [--mutation NAME]
       npm run soak -- --cut service|runner --kills N [--streams N] [--form text|json] [--seed S]
                [--model pocket|pocket-q4]
mutations, which must be found: ${Object.keys(MUTATIONS).join(', ')}`;
const SHOWN = 40;
const PROGRESS_EVERY = 10;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '30' },
    seed: { type: 'string' },
    model: { type: 'string', default: 'pocket' },
    'life-ms': { type: 'string', default: '1500' },
    mutation: { type: 'string' },
    cut: { type: 'string' },
    streams: { type: 'string', default: '1' },
    form: { type: 'string', default: 'text' },
    verbose: { type: 'boolean', default: false },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const lifeMs = Number(values['life-ms']);
const model = MODELS.find((name): name is ModelName => name === values.model);
const known = values.mutation === undefined || values.mutation in MUTATIONS;
if (model === undefined || !known || ![kills, seed, lifeMs].every(Number.isSafeInteger)) {
  console.error(USAGE);
  process.exit(2);
}
process.exitCode = values.cut === undefined ? await soak(model) : await cutAnswers(model);

/** Kills under load; with a mutation, until it is found. */
async function soak(name: ModelName): Promise<number> {
  const mutation = values.mutation === undefined ? undefined : MUTATIONS[values.mutation];
  const mutant = mutation && (await makeMutant(mutation));
  if (mutation) console.log(`on purpose, ${mutation.breaks}`);
  const started = performance.now();
  let lines = 0;
  const progress = (line: string): void => {
    if (values.verbose || ++lines % PROGRESS_EVERY === 0) console.log(line);
  };
  const target = mutant && { main: mutant.main, untilViolation: true };
  const campaign = new Campaign({ kills, seed, model: name, lifeMs, progress, ...target });
  const { figures, abilities, violations } = await campaign.run();
  if (!abilities.policies.includes('resume')) console.log('the service refuses on_restart: resume; it was left out');
  if (!abilities.idempotency)
    console.log('the service knows no Idempotency-Key; lost answers were not asked for again');
  for (const violation of violations.slice(0, SHOWN)) console.log(asLine(violation));
  const found = mutation?.rules.filter((rule) => violations.some((violation) => violation.rule === rule));
  if (found) console.log(found.length > 0 ? `found by ${found.join(', ')}` : 'NOT FOUND by a rule it breaks');
  await mutant?.remove();
  const named = mutation && { mutation: values.mutation };
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(JSON.stringify({ model, seed, ...named, ...figures, violations: violations.length, seconds }));
  return violations.length === 0 ? 0 : 1;
}

/** Cuts answers off by the death of the service or of the model's process, and compares them with uninterrupted ones. */
async function cutAnswers(name: ModelName): Promise<number> {
  const victim = values.cut === 'runner' ? 'runner' : 'service';
  const streams = Number(values.streams);
  const form = values.form === 'json' ? 'json' : 'text';
  const env: Record<string, string> = streams > 1 ? { LMSP_BATCH_INVARIANT: 'true' } : {};
  const trial = await AnswerTrial.run({ kills, seed, model: name, streams, victim, form, env });
  console.log(JSON.stringify({ cut: victim, model, form, streams, seed, ...trial }));
  return trial.differences.length === 0 ? 0 : 1;
}
