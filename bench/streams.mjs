// Eight streams at once, tokens a second in all, each stream between its first and last token: ours over HTTP, stored,
// against the server of llama.cpp over HTTP with as many slots, and against one stream of ours. Needs LMSP_TEST_MODELS.
// Argument: rounds.
import { compare, decodeRate, smollm2, sumOfRates, THREADS, told } from './peers/compare.mjs';
import { installPeers } from './peers/install.mjs';
import { startLlamaServer } from './peers/llama-server.mjs';
import { startOurs } from './peers/ours.mjs';
import { promptMaker } from './peers/prompts.mjs';

const STREAMS = 8;
const PROMPT = 64;
const TOKENS = 128;

export default async function streams([rounds = '5']) {
  await installPeers();
  const directory = smollm2();
  const prompt = await promptMaker(directory);
  const service = await startOurs({ file: directory }, THREADS);
  const llama = await startLlamaServer({ threads: THREADS, slots: STREAMS });
  const ours = service.model('file');
  const atOnce = (model, tokens) =>
    Promise.all(Array.from({ length: STREAMS }, () => model.generate(prompt(PROMPT), tokens)));
  try {
    for (const model of [ours, llama]) await atOnce(model, 8);
    const contenders = {
      'ours, 8 streams': async () => sumOfRates(await atOnce(ours, TOKENS)),
      'llama.cpp server, 8 streams': async () => sumOfRates(await atOnce(llama, TOKENS)),
      'ours, 1 stream': async () => decodeRate(await ours.generate(prompt(PROMPT), TOKENS)),
    };
    const ratios = [
      ['over llama.cpp server', 'ours, 8 streams', 'llama.cpp server, 8 streams', 1, 1.3],
      ['over one stream of ours', 'ours, 8 streams', 'ours, 1 stream', 2.2, 3],
    ];
    return told([await compare(Number(rounds), contenders, ratios)]);
  } finally {
    await Promise.all([llama, service].map((each) => each.stop()));
  }
}
