import { createTestService, type TestService } from 'lmsp-service/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { extension } from './index.js';

const DAY_MS = 86_400_000;

describe('task-audit', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await createTestService({
      extensions: [extension],
      settings: { LMSP_EXT_TASK_AUDIT_KEEP_DAYS: '30' },
    });
  });

  afterAll(() => service.close());

  const accept = async (): Promise<string> => {
    const fields = { model: 'pocket', input: 'Hello', background: true };
    const { body } = await service.request<{ lmsp: { task_id: string } }>('POST', '/v1/responses', fields);
    return body.lmsp.task_id;
  };

  const commandsOf = async (taskId: string): Promise<string[]> => {
    const rows = await service.request<{ command: string }[]>('GET', `/v1/task-audit?task_id=${taskId}`);
    return rows.body.map(({ command }) => command);
  };

  it('has a row for each change of a task', async () => {
    const taskId = await accept();
    await service.runToEnd(taskId);
    const commands = await commandsOf(taskId);
    expect(commands[0]).toBe('enqueue');
    expect(commands.at(-1)).toBe('complete');
  });

  it('has as many rows as changes after a crash', async () => {
    service.engine.hold('steps');
    const taskId = await accept();
    await service.crashAndRestart();
    await service.runToEnd(taskId);
    const commands = await commandsOf(taskId);
    expect(commands.filter((command) => command === 'enqueue')).toHaveLength(1);
    expect(commands.filter((command) => command === 'complete')).toHaveLength(1);
    await service.checkLogs();
  });

  it('lets nobody look without its scope', async () => {
    const client = { name: 'curious', scopes: ['tasks:read'] };
    const { body } = await service.request<{ token: string }>('POST', '/v1/clients', client);
    const answer = await service.request('GET', '/v1/task-audit', undefined, { Authorization: `Bearer ${body.token}` });
    expect(answer.status).toBe(403);
  });

  it('keeps rows for as long as its setting says', async () => {
    const taskId = await accept();
    await service.runToEnd(taskId);
    await service.letExpire(29 * DAY_MS);
    expect(await commandsOf(taskId)).not.toEqual([]);
    await service.letExpire(2 * DAY_MS);
    expect(await commandsOf(taskId)).toEqual([]);
  });
});
