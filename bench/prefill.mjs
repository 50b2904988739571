// Prompt tokens a second until the first token of the answer, at 1,024 tokens: ours over HTTP, stored, against the server of
// llama.cpp over HTTP and transformers.js, node-llama-cpp and onnxruntime-genai in process. Needs LMSP_TEST_MODELS. Argument: rounds.
import { compare, prefillRate, smollm2, THREADS, told } from './peers/compare.mjs';
import { installPeers } from './peers/install.mjs';
import { startInProcess } from './peers/in-process.mjs';
import { startLlamaServer } from './peers/llama-server.mjs';
import { startOptional } from './peers/optional.mjs';
import { startOurs } from './peers/ours.mjs';
import { promptMaker } from './peers/prompts.mjs';

const PROMPT = 1024;
const TOKENS = 4;

export default async function prefill([rounds = '5']) {
  await installPeers();
  const directory = smollm2();
  const prompt = await promptMaker(directory);
  const ours = await startOurs({ file: directory }, THREADS);
  const models = {
    ours: ours.model('file'),
    transformers: await startInProcess('transformers-host.mjs', { directory, threads: THREADS }),
    llama: await startLlamaServer({ threads: THREADS }),
  };
  const { peers, leftOut } = await startOptional({ directory, prompt });
  try {
    for (const model of Object.values(models)) await model.generate(prompt(256), TOKENS);
    const contenders = Object.fromEntries(
      Object.entries({ ...models, ...peers }).map(([name, model]) => [
        name,
        async () => prefillRate(await model.generate(prompt(PROMPT), TOKENS), PROMPT),
      ]),
    );
    const ratios = [
      ['over llama.cpp server', 'ours', 'llama', 1.05, 1.3],
      ['over transformers.js', 'ours', 'transformers', 1.5, 1.7],
      ...Object.keys(peers).map((name) => [`over ${name}`, 'ours', name]),
    ];
    return told([await compare(Number(rounds), contenders, ratios)], leftOut);
  } finally {
    const started = [models.transformers, models.llama, ours, ...Object.values(peers)];
    await Promise.all(started.map((each) => each.stop()));
  }
}
