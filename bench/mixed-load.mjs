// 30 s of 50 parallel creates, 50 parallel cancels and 4 running streams: any 5xx, any broken log? (CASES BL-11)
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { checkLogs } from './create-burst.mjs';
import { eventually, percentile, startService } from './service.mjs';

const STREAMS = 4;
const WIDTH = 50;

export default async function mixedLoad([seconds = '30']) {
  const service = await startService({ connections: 2 * WIDTH, env: { LMSP_MAX_QUEUED_TASKS_PER_CLIENT: '100000' } });
  const end = performance.now() + Number(seconds) * 1000;
  const running = () => performance.now() < end;
  const accepted = new Set();
  const open = [];
  const statuses = {};
  const messages = new Set();
  const times = { create: [], cancel: [] };
  const note = async (kind, call) => {
    const sent = performance.now();
    const answer = await call;
    times[kind].push(performance.now() - sent);
    statuses[`${kind} ${answer.status}`] = (statuses[`${kind} ${answer.status}`] ?? 0) + 1;
    if (answer.status >= 500) messages.add(answer.body.slice(0, 200));
    return answer;
  };
  const create = async () => {
    while (running()) {
      const { status, body } = await note(
        'create',
        service.call('POST', '/v1/responses', {
          model: 'pocket',
          input: 'Tell me a long story about a fox.',
          background: true,
          temperature: 1,
        }),
      );
      if (status !== 202) continue;
      const { id } = JSON.parse(body);
      accepted.add(id);
      open.push(id);
    }
  };
  const cancel = async () => {
    while (running()) {
      const id = open.pop();
      if (!id) await delay(1);
      else await note('cancel', service.call('POST', `/v1/responses/${id}/cancel`));
    }
  };
  let streamed = 0;
  let brokenStreams = 0;
  const stream = async () => {
    while (running()) {
      const response = await fetch(`${service.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'pocket', input: 'Tell me a long story.', stream: true, temperature: 1 }),
      });
      const text = await response.text();
      const numbers = [...text.matchAll(/"sequence_number":(\d+)/g)].map((match) => Number(match[1]));
      const created = /"id":"(resp_[a-z0-9]+)"/.exec(text)?.[1];
      if (created) accepted.add(created);
      streamed += numbers.length;
      if (numbers.some((number, i) => number !== i) || !text.endsWith('data: [DONE]\n\n')) brokenStreams++;
    }
  };
  await Promise.all([
    ...Array.from({ length: WIDTH }, create),
    ...Array.from({ length: WIDTH }, cancel),
    ...Array.from({ length: STREAMS }, stream),
  ]);
  for (const id of open.splice(0)) await note('cancel', service.call('POST', `/v1/responses/${id}/cancel`));
  await eventually(async () => {
    const { body } = await service.call('GET', '/v1/tasks?status=queued,loading,running,cancelling&limit=1');
    if (JSON.parse(body).data.length > 0) throw new Error('tasks are still running');
  }, 120_000);
  const exit = await service.stop();
  const logs = await checkLogs(join(service.dataDir, 'lmsp.sqlite'), accepted);
  await service.remove();
  return {
    seconds: Number(seconds),
    answers: statuses,
    faults: [...messages],
    streamed_events: streamed,
    broken_streams: brokenStreams,
    accepted: accepted.size,
    create_p99_ms: Math.round(percentile(times.create, 99)),
    cancel_p99_ms: Math.round(percentile(times.cancel, 99)),
    exit,
    ...logs,
  };
}
