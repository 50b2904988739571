// BL-30: rounds of four model processes opened at once, each asked for a few tokens and closed.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ProcessEngine } from '../dist/src/inference/index.js';
import { percentile } from './service.mjs';

const AT_ONCE = 4;
const POCKET = {
  id: 'pocket',
  directory: fileURLToPath(new URL('../models/pocket', import.meta.url)),
  graphFile: 'onnx/model.onnx',
  rows: 2,
  threads: 1,
};
const SAMPLING = {
  temperature: 1,
  topK: 0,
  topP: 1,
  minP: 0,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  logitBias: {},
};

export default async function modelLoads([rounds = '50']) {
  const runnersDirectory = await mkdtemp(join(tmpdir(), 'lmsp-runners-'));
  const said = [];
  const engine = new ProcessEngine({
    runnersDirectory,
    stallSeconds: 30,
    maxWaiting: 4,
    onLog: ({ text }) => said.push(text),
  });
  const loads = [];
  let finished = 0;
  for (let round = 0; round < Number(rounds); round++) {
    const models = await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        const since = performance.now();
        const model = await engine.open(POCKET);
        loads.push(performance.now() - since);
        return model;
      }),
    );
    const ends = await Promise.all(models.map((model, i) => generate(model, `${round}.${i}`)));
    finished += ends.filter(({ outcome }) => outcome === 'finished').length;
    await Promise.all(models.map((model) => model.close()));
  }
  const leftover = (await readdir(runnersDirectory)).length;
  await rm(runnersDirectory, { recursive: true });
  return {
    rounds: Number(rounds),
    opened: loads.length,
    finished,
    lines_said: said.length,
    first_line: said[0] ?? null,
    leftover,
    load_p50_ms: Math.round(percentile(loads, 50)),
    load_max_ms: Math.round(percentile(loads, 100)),
  };
}

function generate(model, id) {
  const request = { id, promptIds: [3, 4, 5], seed: 1, sampling: SAMPLING, stop: [], maxOutputTokens: 16 };
  const generation = model.generate(request, { step: ({ index }) => generation.acknowledge(index) });
  return generation.ended;
}
