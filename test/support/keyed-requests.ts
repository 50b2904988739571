import { parseEvents, type Answer, type HttpApp } from './http-app.js';
import { RawConnection } from './raw-connection.js';
import { waitFor } from './wait-for.js';

let keys = 0;

export const newKey = (): string => `key-${(keys += 1)}`;

export const withKey = (key: string): Record<string, string> => ({ 'Idempotency-Key': key });

/** Whether the answer says that it is not the first. */
export const replayed = ({ headers }: { headers: Headers }): boolean => headers.get('idempotent-replayed') === 'true';

interface KeyRow {
  task_id: string;
  expires_at: number;
}

/** What is stored under the key, whoever's it is. */
export function rowsOf(http: HttpApp, key: string): Promise<KeyRow[]> {
  return http.store.reader.query<KeyRow>('select task_id, expires_at from idempotency_keys where key = ?', [key]);
}

/** The task that the key is bound to, once it is. */
export function taskOf(http: HttpApp, key: string): Promise<string> {
  return waitFor('the key to have a task', async () => (await rowsOf(http, key))[0]?.task_id);
}

/** A create with a stream, read to its end: the data of its events. */
export async function streamed(http: HttpApp, fields: object, key: string): Promise<Answer & { events: string[] }> {
  const body = { model: 'pocket', input: 'Hello', stream: true, ...fields };
  const response = await http.fetch('POST', '/v1/responses', body, withKey(key));
  const events = parseEvents(await response.text()).map(({ data }) => data);
  return { status: response.status, headers: response.headers, body: null, events };
}

/** Sends a create on a connection of its own, which the test reads and cuts. */
export async function sent(http: HttpApp, fields: object, key: string): Promise<RawConnection> {
  const body = JSON.stringify({ model: 'pocket', input: 'Hello', ...fields });
  const connection = await RawConnection.open(http.port);
  connection.send(
    'POST /v1/responses HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${http.token}`,
    `Idempotency-Key: ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  );
  return connection;
}
