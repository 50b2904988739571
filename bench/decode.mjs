// One stream, tokens a second between its first and last token at three lengths of context: ours over HTTP, stored, against
// transformers.js in process, on the file and on a copy that names no accuracy levels, the server of llama.cpp over HTTP, and
// node-llama-cpp and onnxruntime-genai in process. Needs LMSP_TEST_MODELS. Argument: rounds.
import { join } from 'node:path';
import { compare, decodeRate, smollm2, THREADS, told } from './peers/compare.mjs';
import { installPeers, PEERS } from './peers/install.mjs';
import { startInProcess } from './peers/in-process.mjs';
import { startLlamaServer } from './peers/llama-server.mjs';
import { startOptional } from './peers/optional.mjs';
import { startOurs } from './peers/ours.mjs';
import { promptMaker } from './peers/prompts.mjs';
import { stripLevels } from './peers/strip-levels.mjs';

const TOKENS = 64;
/** [context, peer → [at least, aim]]. */
const GOALS = [
  [64, { transformers: [1.3, 1.5], stripped: [2, 2.5], llama: [0.8, 1.05] }],
  [512, { transformers: [2.1, 2.6], stripped: [3, 4], llama: [1.05, 1.3] }],
  [1536, { transformers: [3.8, 5], stripped: [4.5, 6], llama: [0.85, 1.1] }],
];

export default async function decode([rounds = '3']) {
  await installPeers();
  const directory = smollm2();
  const stripped = join(PEERS, 'without-levels');
  await stripLevels(directory, stripped);
  const prompt = await promptMaker(directory);
  const ours = await startOurs({ file: directory, stripped }, THREADS);
  const transformers = (folder) => startInProcess('transformers-host.mjs', { directory: folder, threads: THREADS });
  const models = {
    ours: ours.model('file'),
    transformers: await transformers(directory),
    llama: await startLlamaServer({ threads: THREADS }),
    oursStripped: ours.model('stripped'),
    transformersStripped: await transformers(stripped),
  };
  const { peers, leftOut } = await startOptional({ directory, prompt });
  try {
    for (const model of Object.values(models)) await model.generate(prompt(64), 8);
    const comparisons = [];
    for (const [context, goals] of GOALS) {
      const at = (name) => `${name} at ${context}`;
      const contenders = Object.fromEntries(
        Object.entries({ ...models, ...peers }).map(([name, model]) => [
          at(name),
          async () => decodeRate(await model.generate(prompt(context), TOKENS)),
        ]),
      );
      const ratios = [
        [at('over transformers.js'), at('ours'), at('transformers'), ...goals.transformers],
        [at('over transformers.js, no levels'), at('oursStripped'), at('transformersStripped'), ...goals.stripped],
        [at('over llama.cpp server'), at('ours'), at('llama'), ...goals.llama],
        ...Object.keys(peers).map((name) => [at(`over ${name}`), at('ours'), at(name)]),
      ];
      comparisons.push(await compare(Number(rounds), contenders, ratios));
    }
    return told(comparisons, leftOut);
  } finally {
    const started = [models.transformers, models.transformersStripped, models.llama, ours, ...Object.values(peers)];
    await Promise.all(started.map((each) => each.stop()));
  }
}
