// node-llama-cpp in a process of its own, one sequence for each stream; started by in-process.mjs.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { GGUF } from './install.mjs';
import { serveInProcess } from './in-process.mjs';

const { folder, threads, streams } = JSON.parse(process.argv[2]);
const CONTEXT = 2048;
const entry = createRequire(join(folder, 'package.json')).resolve('node-llama-cpp');
const { getLlama } = await import(pathToFileURL(entry));

const llama = await getLlama({ gpu: false, build: 'never', maxThreads: threads, logLevel: 'error' });
const model = await llama.loadModel({ modelPath: GGUF, gpuLayers: 0 });
const context = await model.createContext({ sequences: streams, contextSize: CONTEXT, threads });
const free = Array.from({ length: streams }, () => context.getSequence());

serveInProcess(async (ids, tokens, tell) => {
  const sequence = free.pop();
  await sequence.clearHistory();
  let told = 0;
  for await (const token of sequence.evaluate(ids, { temperature: 0, yieldEogToken: true })) {
    tell(token);
    if (++told === tokens) break;
  }
  free.push(sequence);
});
