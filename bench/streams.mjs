// Eight streams at once, tokens a second in all while all eight answer, and of the whole answers with their prompts: ours
// over HTTP, stored, against the server of llama.cpp over HTTP with as many slots, node-llama-cpp with as many sequences and
// onnxruntime-genai with them as one batch, and against one stream of ours. Needs LMSP_TEST_MODELS. Argument: rounds.
import { compare, decodeRate, rateOfAll, rateTogether, smollm2, THREADS, told } from './peers/compare.mjs';
import { installPeers } from './peers/install.mjs';
import { startLlamaServer } from './peers/llama-server.mjs';
import { startOptional } from './peers/optional.mjs';
import { startOurs } from './peers/ours.mjs';
import { promptMaker } from './peers/prompts.mjs';

const STREAMS = 8;
const PROMPT = 64;
const TOKENS = 128;
const OURS = `ours, ${STREAMS} streams`;
const LLAMA = `llama.cpp server, ${STREAMS} streams`;

export default async function streams([rounds = '5']) {
  await installPeers();
  const directory = smollm2();
  const prompt = await promptMaker(directory);
  const service = await startOurs({ file: directory }, THREADS);
  const llama = await startLlamaServer({ threads: THREADS, slots: STREAMS });
  const { peers, leftOut } = await startOptional({ directory, prompt, streams: STREAMS });
  const ours = service.model('file');
  const atOnce = (model, tokens) =>
    Promise.all(Array.from({ length: STREAMS }, () => model.generate(prompt(PROMPT), tokens)));
  try {
    for (const model of [ours, llama]) await atOnce(model, 8);
    const whole = {};
    const together = (name, model) => async () => {
      const streams = await atOnce(model, TOKENS);
      (whole[name] ??= []).push(rateOfAll(streams));
      return rateTogether(streams);
    };
    const contenders = {
      [OURS]: together(OURS, ours),
      [LLAMA]: together(LLAMA, llama),
      ...Object.fromEntries(Object.entries(peers).map(([name, peer]) => [name, together(name, peer)])),
      'ours, 1 stream': async () => decodeRate(await ours.generate(prompt(PROMPT), TOKENS)),
    };
    const ratios = [
      ['over llama.cpp server', OURS, LLAMA, 1, 1.3],
      ['over one stream of ours', OURS, 'ours, 1 stream', 2.2, 3],
      ...Object.keys(peers).map((name) => [`over ${name}`, OURS, name]),
    ];
    const decoding = await compare(Number(rounds), contenders, ratios);
    // The same runs, their prompts included.
    const again = Object.fromEntries(Object.keys(whole).map((name) => [`${name}, whole`, () => whole[name].shift()]));
    const wholes = [
      ['whole answers over llama.cpp server', `${OURS}, whole`, `${LLAMA}, whole`, 1, 1.3],
      ...Object.keys(peers).map((name) => [`whole answers over ${name}`, `${OURS}, whole`, `${name}, whole`]),
    ];
    return told([decoding, await compare(Number(rounds), again, wholes)], leftOut);
  } finally {
    await Promise.all([llama, service, ...Object.values(peers)].map((each) => each.stop()));
  }
}
