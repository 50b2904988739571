import { afterAll, beforeAll, expect, it } from 'vitest';
import { HttpApp } from '../support/http-app.js';

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start({ env: { LMSP_QUEUE_TIMEOUT_SECONDS: '1', LMSP_MAX_ROWS: '0' } });
});
afterAll(() => http.close());

it('a create that waits too long to begin is 504 queue_timeout in the foreground, and failed in the background', async () => {
  const [foreground, { lmsp }] = await Promise.all([http.create(), http.accept()]);
  expect([foreground.status, foreground.body.error.code]).toEqual([504, 'queue_timeout']);
  const task = await http.task(lmsp.task_id, 'failed');
  expect([task.error.code, task.attempt]).toEqual(['queue_timeout', 0]);
});
