/** Entry of an encoder's process: one model, opened by the first message; ends with its channel. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FromEncoder, ToEncoder } from '../encoding/encoder-protocol.js';
import { EncoderSession } from '../encoding/encoder-session.js';
import type { EncoderSpec } from '../encoding/encoding-engine.js';
import { endWithParent } from '../process/end-with-parent.js';
import { giveWay } from '../process/give-way.js';
import { openEncoder } from './open-encoder.js';

endWithParent();
giveWay();

function send(message: FromEncoder): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

async function open(spec: EncoderSpec): Promise<EncoderSession | null> {
  try {
    const { encoder, info } = await openEncoder(spec, (fraction) => send({ kind: 'progress', fraction }));
    send({ kind: 'ready', info });
    return new EncoderSession({ encoder, send, pause: () => nextTurn() });
  } catch (error) {
    send({ kind: 'refused', message: error instanceof Error ? error.message : String(error) });
    return null;
  }
}

let session: EncoderSession | null = null;
process.on('message', (message: ToEncoder) => {
  if (message.kind !== 'open') session?.handle(message);
  else void open(message.spec).then((opened) => (session = opened));
});
