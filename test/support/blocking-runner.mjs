// A runner whose model stays inside each run until the file named by BLOCKED_BY is gone: as a long native call, it reads
// no message meanwhile. Started with a compiled service.
import { existsSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { endWithParent } from '../../dist/src/inference/process/end-with-parent.js';
import { RunnerSession } from '../../dist/src/inference/runner-session.js';

const VOCABULARY = 1024;
const END_ID = 0;
const POLL_MS = 5;
const cell = new Int32Array(new SharedArrayBuffer(4));

function stay() {
  while (existsSync(process.env.BLOCKED_BY)) Atomics.wait(cell, 0, 0, POLL_MS);
}

/** Each generation says 'a' to its limit. */
const logits = new Float32Array(VOCABULARY);
logits[1] = 1000;

const model = {
  vocabularySize: VOCABULARY,
  contextLength: 2048,
  async prefill() {
    stay();
    return logits;
  },
  async decode(inputs) {
    stay();
    return inputs.map(() => logits);
  },
  move() {},
};

const decoder = {
  size: VOCABULARY,
  endTokenIds: new Set([END_ID]),
  hiddenTokenIds: new Set([END_ID]),
  decode: (ids) => 'a'.repeat(ids.length),
};

const info = {
  contextLength: 2048,
  vocabularySize: VOCABULARY,
  kvMode: 'in-place',
  endTokenIds: [END_ID],
  residentBytes: 1,
  fingerprint: 'blocking',
  kernelClasses: 1,
  exact: { resume: true, batchInvariant: true },
  warnings: [],
};

endWithParent();
const send = (message) => process.connected && process.send(message, undefined, undefined, () => undefined);
let session = null;
process.on('message', (message) => {
  if (message.kind !== 'open') return session.handle(message);
  session = new RunnerSession({ model, decoder, rows: message.spec.rows, send, pause: () => nextTurn() });
  send({ kind: 'ready', info });
});
