import { NoService, TimeLimit } from '../cli-errors.js';
import { parseWait } from '../duration.js';
import { EXIT } from '../exit-codes.js';
import { printObject } from '../listing.js';
import type { Session } from '../session.js';

export interface StopOptions {
  /** Wait so long for its end; `true` is a minute. */
  wait?: string | true;
}

const PAUSE_MS = 100;
const USUAL_WAIT = '60s';

/** `lmsp stop`: the clean stop. Background work keeps its place. */
export async function stop(session: Session, { wait }: StopOptions): Promise<number> {
  const { api } = session;
  const { isOwn } = api.target();
  const answer = await api.json<{ status: string }>('POST', '/v1/service/stop');
  if (wait !== undefined) await untilGone(session, isOwn, parseWait(wait === true ? USUAL_WAIT : wait));
  printObject(session, answer, { status: wait === undefined ? answer.status : 'stopped' }, '');
  return EXIT.done;
}

/** The own service takes its service.json away once the store is closed; of another only the port can be watched. */
async function untilGone({ api }: Session, isOwn: boolean, waitMs: number): Promise<void> {
  const end = Date.now() + waitMs;
  for (;;) {
    try {
      if (isOwn) api.target();
      else await api.probe('/ready');
    } catch (error) {
      if (error instanceof NoService) return;
      if (isOwn) throw error;
    }
    if (Date.now() >= end) throw new TimeLimit('the service still stops');
    await api.pause(PAUSE_MS);
  }
}
