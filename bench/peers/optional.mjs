// Peers that not every machine can have: those that answer a short prompt are compared, the others are named with the reason.
import { THREADS } from './compare.mjs';
import { startGenai } from './genai.mjs';
import { startInProcess } from './in-process.mjs';
import { installOptional } from './install.mjs';

const STARTS = {
  'node-llama-cpp': (folder, { streams }) =>
    startInProcess('node-llama-cpp-host.mjs', { folder, threads: THREADS, streams }),
  'onnxruntime-genai': (_, { directory }) => startGenai({ directory, threads: THREADS }),
};

/** Resolves with name → peer, and name → reason of those left out. `streams`: prompts that one may be given at once. */
export async function startOptional({ directory, prompt, streams = 1 }) {
  const peers = {};
  const leftOut = {};
  for (const [name, start] of Object.entries(STARTS)) {
    try {
      const peer = await start(await installOptional(name), { directory, streams });
      peers[name] = peer;
      await Promise.all(Array.from({ length: streams }, () => peer.generate(prompt(64), 8)));
    } catch (error) {
      await peers[name]?.stop();
      delete peers[name];
      leftOut[name] = error.message;
      console.error(`${name} is left out: ${error.message}`);
    }
  }
  return { peers, leftOut };
}
