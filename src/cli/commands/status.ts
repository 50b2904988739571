import type { ServiceObject } from '../api-objects.js';
import { ApiError, ConnectionLost, NoService, TimeLimit } from '../cli-errors.js';
import { parseWait } from '../duration.js';
import { EXIT } from '../exit-codes.js';
import { timeText } from '../human-text.js';
import { printObject } from '../listing.js';
import type { Session } from '../session.js';

export interface StatusOptions {
  /** Wait so long for a service that is ready; `true` is a minute. */
  wait?: string | true;
}

interface Readiness {
  status: string;
  reason?: string;
}

const PAUSE_MS = 200;
const USUAL_WAIT = '60s';

/** `lmsp status`: 0 when the service takes work. */
export async function status(session: Session, { wait }: StatusOptions): Promise<number> {
  if (wait !== undefined) await untilReady(session, parseWait(wait === true ? USUAL_WAIT : wait));
  const { body } = await session.api.probe<Readiness>('/ready');
  if (body.status !== 'ready') {
    printObject(
      session,
      body,
      { url: session.api.target().url, status: body.status, reason: body.reason ?? null },
      body.status,
    );
    return EXIT.failed;
  }
  const service = await session.api.json<ServiceObject>('GET', '/v1/service');
  printObject(session, service, {
    status: 'ready',
    url: session.api.target().url,
    version: `${service.version} (LMSP ${service.lmsp_version})`,
    started: `${timeText(service.started_at, session.options.time)}, start number ${service.incarnation}`,
    degraded: service.degraded.join(', ') || null,
    id: service.id,
  });
  return EXIT.done;
}

/** Throws TimeLimit. */
async function untilReady({ api }: Session, waitMs: number): Promise<void> {
  const end = Date.now() + waitMs;
  for (;;) {
    const obstacle = await api.probe<Readiness>('/ready').then(
      ({ body }) => (body.status === 'ready' ? null : (body.reason ?? body.status)),
      (error: unknown) => passing(error),
    );
    if (obstacle === null) return;
    if (Date.now() >= end) throw new TimeLimit(`not ready: ${obstacle}`);
    await api.pause(PAUSE_MS);
  }
}

/** Why a probe failed, if waiting may help. */
function passing(error: unknown): string {
  if (error instanceof NoService || error instanceof ConnectionLost || error instanceof ApiError) return error.message;
  throw error;
}
