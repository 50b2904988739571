import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTestService, waitFor } from 'lmsp-service/testing';
import { expect, it } from 'vitest';
import { webhookExtension } from './webhook.js';

it('posts the end of a task once it is on disk, and a receiver that fails disturbs nobody', async () => {
  const received: { key: string | string[] | undefined; body: unknown }[] = [];
  let status = 204;
  const receiver = createServer((request, response) => {
    void textOf(request).then((text) => {
      received.push({ key: request.headers['idempotency-key'], body: JSON.parse(text) });
      response.writeHead(status).end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  const service = await createTestService({
    extensions: [webhookExtension],
    settings: { LMSP_EXT_WEBHOOK_URL: `http://127.0.0.1:${port}` },
  });
  const runOne = async (): Promise<string> => {
    const fields = { model: 'pocket', input: 'Hello', background: true };
    const { body } = await service.request<{ lmsp: { task_id: string } }>('POST', '/v1/responses', fields);
    await service.runToEnd(body.lmsp.task_id);
    return body.lmsp.task_id;
  };

  const first = await runOne();
  await waitFor('the first post', () => received.length === 1);
  expect(received[0]).toMatchObject({ body: { task_id: first, type: 'response', status: 'completed' } });

  status = 500;
  await runOne();
  const [failure] = await waitFor('the failure', () => {
    const failures = service.failures();
    return failures.length > 0 ? failures : null;
  });
  expect(failure).toMatchObject({ where: 'listener.call_failed', error: { message: 'the receiver answered 500' } });
  await service.close();
  receiver.close();
});

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}
