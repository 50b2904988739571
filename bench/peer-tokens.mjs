// Whether the peers compute the same: greedy ids of one prompt, each peer's beside those of one with the same weights, and how
// many at the start are equal. Kernels round differently: a later token may differ. Needs LMSP_TEST_MODELS.
import { smollm2, THREADS } from './peers/compare.mjs';
import { installPeers } from './peers/install.mjs';
import { startInProcess } from './peers/in-process.mjs';
import { startLlamaServer } from './peers/llama-server.mjs';
import { startOptional } from './peers/optional.mjs';
import { promptMaker } from './peers/prompts.mjs';

const PROMPT = 64;
const TOKENS = 32;
/** [peer, one with the same weights]. */
const PAIRS = [
  ['node-llama-cpp', 'llama'],
  ['onnxruntime-genai', 'transformers'],
];

export default async function peerTokens() {
  await installPeers();
  const directory = smollm2();
  const prompt = await promptMaker(directory);
  const { peers, leftOut } = await startOptional({ directory, prompt });
  const models = {
    llama: await startLlamaServer({ threads: THREADS }),
    transformers: await startInProcess('transformers-host.mjs', { directory, threads: THREADS }),
    ...peers,
  };
  try {
    const asked = prompt(PROMPT);
    const outputs = {};
    for (const [name, model] of Object.entries(models)) outputs[name] = (await model.generate(asked, TOKENS)).output;
    const pairs = PAIRS.filter(([name]) => peers[name]).map(([name, other]) => {
      const differs = outputs[name].findIndex((id, i) => id !== outputs[other][i]);
      return { name, other, tokens: outputs[name].length, equal: differs < 0 ? TOKENS : differs };
    });
    console.table(pairs);
    return { pairs, left_out: leftOut, outputs };
  } finally {
    await Promise.all(Object.values(models).map((each) => each.stop()));
  }
}
