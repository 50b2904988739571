/** Entry of the runner process: one model, opened by the first message; ends with its channel. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ModelSpec } from '../inference-engine.js';
import { endWithParent } from '../process/end-with-parent.js';
import { giveWay } from '../process/give-way.js';
import type { FromRunner, ToRunner } from '../runner-protocol.js';
import { RunnerSession } from '../runner-session.js';
import { openModel } from './open-model.js';

endWithParent();
giveWay();

function send(message: FromRunner): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

async function open(spec: ModelSpec): Promise<RunnerSession | null> {
  try {
    const { info, ...opened } = await openModel(spec, (fraction) => send({ kind: 'progress', fraction }));
    const session = new RunnerSession({ ...opened, send, pause: () => nextTurn(), gatherMs: spec.gatherMs ?? 0 });
    send({ kind: 'ready', info });
    return session;
  } catch (error) {
    send({ kind: 'refused', message: error instanceof Error ? error.message : String(error) });
    return null;
  }
}

let session: RunnerSession | null = null;
process.on('message', (message: ToRunner) => {
  if (message.kind !== 'open') session?.handle(message);
  else void open(message.spec).then((opened) => (session = opened));
});
