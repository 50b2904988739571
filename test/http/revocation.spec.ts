import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EphemeralResponses } from '../../src/responses/index.js';
import { FakeEngine } from '../support/fake-engine.js';
import { HttpApp } from '../support/http-app.js';
import { temporaryDirectory } from '../support/store.js';
import { waitFor } from '../support/wait-for.js';

let words: number;

/** Says a word for ever. */
function* endless(): Generator<string> {
  for (;;) {
    words += 1;
    yield 'word ';
  }
}

const engine = () => new FakeEngine({ tokens: endless, stepDelayMs: 2 });
const SCOPES = ['responses:read', 'responses:write', 'tasks:read', 'tasks:cancel'];

let http: HttpApp;
let client: { id: string; token: string };
let as: { Authorization: string };

beforeEach(async () => {
  words = 0;
  http = await HttpApp.start({ engine: engine(), env: { LMSP_MAX_ROWS: '1', LMSP_STOP_GRACE_SECONDS: '0' } });
  client = (await http.call('POST', '/v1/clients', { name: 'app', scopes: SCOPES })).body;
  as = { Authorization: `Bearer ${client.token}` };
});
afterEach(() => http.close());

const revoke = () => http.call('DELETE', `/v1/clients/${client.id}`);

const statuses = async (): Promise<string[]> => {
  const rows = await http.store.reader.query<{ status: string }>(
    'select status from tasks where client_id = ? order by position',
    [client.id],
  );
  return rows.map(({ status }) => status);
};

const taskId = async (): Promise<string> => {
  const { body } = await http.create({ background: true }, as);
  return body.lmsp.task_id;
};

const running = (count: number) =>
  waitFor('the tasks', async () => (await statuses()).filter((each) => each !== 'queued').length === count);

describe('revoking a client (WIRE B8, CASES BL-39)', () => {
  it('ends its open streams and cancels its work, running and queued', async () => {
    const id = await taskId();
    await taskId();
    await running(1);
    const stream = await http.fetch('GET', `/v1/tasks/${id}/events`, undefined, { ...as, Accept: 'text/event-stream' });
    const ended = stream.text().then(
      () => true,
      () => true,
    );
    expect((await revoke()).status).toBe(200);
    expect(await ended).toBe(true);
    await waitFor('the cancels', async () => (await statuses()).every((each) => each === 'cancelled'));
    expect(http.streams.count).toBe(0);
    expect(http.faults).toEqual([]);
  });

  it.each([
    ['stored', {}],
    ['with store=false', { store: false }],
    ['streamed with store=false', { store: false, stream: true }],
  ])('ends its foreground work: %s', async (_, fields) => {
    const answer = http.create(fields, as).catch(() => null);
    await waitFor('the generation', () => words > 0);
    await revoke();
    await answer;
    await http.app.get(EphemeralResponses, { strict: false }).idle();
    await waitFor('the cancels', async () => (await statuses()).every((each) => each === 'cancelled'));
  });

  it('by itself is answered, and touches nobody else', async () => {
    const mine = await http.accept();
    await http.task(mine.lmsp.task_id, 'running');
    expect((await http.call('DELETE', `/v1/clients/${client.id}`, undefined, as)).status).toBe(200);
    expect((await http.call('GET', `/v1/tasks/${mine.lmsp.task_id}`)).body.status).toBe('running');
  });
});

describe('what is left of a revoked client', () => {
  it('is cancelled when it would be claimed', async () => {
    const mine = await http.accept();
    await http.task(mine.lmsp.task_id, 'running');
    await taskId();
    await http.store.units.run((tx) => tx.execute('UPDATE clients SET revoked_at = 1 WHERE id = ?', [client.id]));
    await http.call('POST', `/v1/tasks/${mine.lmsp.task_id}/cancel`);
    await waitFor('the cancel', async () => (await statuses())[0] === 'cancelled');
  });

  it('is cancelled by the next start', async () => {
    const dataDir = await temporaryDirectory();
    await http.close();
    http = await HttpApp.start({
      dataDir,
      engine: engine(),
      env: { LMSP_MAX_ROWS: '1', LMSP_STOP_GRACE_SECONDS: '0' },
    });
    client = (await http.call('POST', '/v1/clients', { name: 'app', scopes: SCOPES })).body;
    as = { Authorization: `Bearer ${client.token}` };
    await taskId();
    await taskId();
    await running(1);
    await http.store.units.run((tx) => tx.execute('UPDATE clients SET revoked_at = 1 WHERE id = ?', [client.id]));
    await http.close();
    http = await HttpApp.start({ dataDir, engine: engine() });
    expect(await statuses()).toEqual(['cancelled', 'cancelled']);
  });
});
