// What the service leaves of its engine's speed: streams over HTTP, stored, against the scheduler and the model alone, on
// the same file, one stream and eight at once. Needs LMSP_TEST_MODELS. Argument: rounds.
import { join } from 'node:path';
import { compare, decodeRate, rateTogether, smollm2, THREADS, told } from './peers/compare.mjs';
import { startInProcess } from './peers/in-process.mjs';
import { startOurs } from './peers/ours.mjs';
import { promptMaker } from './peers/prompts.mjs';

const PROMPT = 64;
const TOKENS = 128;

export default async function serviceOverhead([rounds = '5']) {
  const directory = smollm2();
  const prompt = await promptMaker(directory);
  const service = await startOurs({ file: directory }, THREADS);
  const graphFile = join('onnx', 'model_q4.onnx');
  const engine = await startInProcess('engine-loop.mjs', { directory, graphFile, threads: THREADS, rows: 8 });
  const ours = service.model('file');
  const atOnce = (model, streams, tokens) =>
    Promise.all(Array.from({ length: streams }, () => model.generate(prompt(PROMPT), tokens)));
  try {
    for (const model of [ours, engine]) await atOnce(model, 8, 8);
    const contenders = {};
    for (const streams of [1, 8]) {
      const rate = streams === 1 ? ([stream]) => decodeRate(stream) : rateTogether;
      contenders[`service, ${streams}`] = async () => rate(await atOnce(ours, streams, TOKENS));
      contenders[`engine, ${streams}`] = async () => rate(await atOnce(engine, streams, TOKENS));
    }
    const ratios = [
      ['over the bare engine, 1 stream', 'service, 1', 'engine, 1', 0.95, 0.98],
      ['over the bare engine, 8 streams', 'service, 8', 'engine, 8', 0.95, 0.98],
    ];
    return told([await compare(Number(rounds), contenders, ratios)]);
  } finally {
    await Promise.all([engine, service].map((each) => each.stop()));
  }
}
