// Our engine without service: the scheduler on the model, in a process of its own, no store, no HTTP. By in-process.mjs.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openModel } from '../../dist/src/inference/onnx/open-model.js';
import { RunnerSession } from '../../dist/src/inference/runner-session.js';
import { serveInProcess } from './in-process.mjs';

const { directory, graphFile, threads, rows } = JSON.parse(process.argv[2]);
const spec = { id: 'bare', directory, graphFile, rows, threads, activations: 'int8' };
const { info: _info, ...opened } = await openModel(spec, () => undefined);

const live = new Map();
const session = new RunnerSession({ ...opened, send: receive, pause: () => nextTurn() });
let last = 0;

function receive({ report: { steps, ended } }) {
  for (const [id, { index }] of steps) {
    live.get(id).tell();
    // What a store would say; not in the middle of a turn.
    setImmediate(() => session.handle({ kind: 'acknowledge', steps: [[id, index]] }));
  }
  for (const [id, end] of ended) live.get(id).end(end);
}

const sampling = {
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: 0,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  logitBias: { 0: -100, 1: -100, 2: -100 },
};

serveInProcess((promptIds, maxOutputTokens, tell) => {
  const id = String(++last);
  return new Promise((resolve, reject) => {
    const end = (how) => (how.outcome === 'finished' ? resolve() : reject(new Error(JSON.stringify(how))));
    live.set(id, { tell, end });
    session.handle({ kind: 'generate', request: { id, promptIds, seed: 1, sampling, stop: [], maxOutputTokens } });
  });
});
