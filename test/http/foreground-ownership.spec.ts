import { afterEach, describe, expect, it } from 'vitest';
import { HttpApp } from '../support/http-app.js';
import { newKey, replayed, rowsOf, sent, taskOf, withKey } from '../support/keyed-requests.js';
import { waitFor } from '../support/wait-for.js';

let http: HttpApp;
afterEach(async () => {
  expect(http.faults).toEqual([]);
  await http.close();
});

async function start(graceSeconds: number): Promise<void> {
  http = await HttpApp.start({ env: { LMSP_FOREGROUND_GRACE_SECONDS: String(graceSeconds) } });
  http.engine.hold('steps');
}

describe('whose a foreground task with a key is (WIRE B3)', () => {
  it('outlives its client by the grace, and its repeat gets the response', async () => {
    await start(3600);
    const key = newKey();
    const first = await sent(http, {}, key);
    const taskId = await taskOf(http, key);
    await http.task(taskId, 'running');
    first.cut();
    await waitFor('the first to be gone', () => http.requests.some(({ task_id }) => task_id === taskId));
    expect((await http.create({}, withKey(key))).status).toBe(409);
    http.engine.release('steps');
    await http.task(taskId, 'completed');
    const repeat = await http.create({}, withKey(key));
    expect([repeat.status, repeat.body.lmsp.task_id, replayed(repeat)]).toEqual([200, taskId, true]);
  });

  it.each([[{}], [{ stream: true }]])('is cancelled after the grace when no repeat came: %j', async (fields) => {
    await start(1);
    const key = newKey();
    const first = await sent(http, fields, key);
    const taskId = await taskOf(http, key);
    await http.task(taskId, 'running');
    first.cut();
    await http.task(taskId, 'cancelled');
    expect(await rowsOf(http, key)).toEqual([]);
  });

  it('belongs to the stream of a repeat when the first has left, and ends with it', async () => {
    await start(0);
    const key = newKey();
    const first = await sent(http, { stream: true }, key);
    await first.receives('response.created');
    const taskId = await taskOf(http, key);
    await http.task(taskId, 'running');
    const repeat = await sent(http, { stream: true }, key);
    await repeat.receives('response.created');
    first.cut();
    await waitFor('the first to be gone', () => http.streams.count === 1);
    http.engine.step(1);
    await repeat.receives('response.output_text.delta');
    repeat.cut();
    await http.task(taskId, 'cancelled');
    expect(await rowsOf(http, key)).toEqual([]);
  });

  it('is not cancelled by a grace that ends during a stop (WIRE B6)', async () => {
    await start(1);
    const key = newKey();
    const first = await sent(http, {}, key);
    const taskId = await taskOf(http, key);
    await http.task(taskId, 'running');
    first.cut();
    await waitFor('the first to be gone', () => http.requests.some(({ task_id }) => task_id === taskId));
    await http.stop();
    const next = await HttpApp.start({ dataDir: http.dataDir });
    const { body } = await next.call('GET', `/v1/tasks/${taskId}`);
    expect([body.status, body.error.code]).toEqual(['failed', 'server_shutting_down']);
    expect(await rowsOf(next, key)).toEqual([]);
    await next.close();
  });
});
