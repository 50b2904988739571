import { UnitOfWork } from 'lmsp-service';
import { createTestService, waitFor, type TestService } from 'lmsp-service/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface ResponseBody {
  id: string;
  output: { content: { text: string }[] }[];
  lmsp: { task_id: string };
}

describe('the test kit', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await createTestService({ settings: { LMSP_MAX_ROWS: '1' } });
  });

  afterAll(() => service.close());

  const accept = async (input: string): Promise<ResponseBody> => {
    const fields = { model: 'pocket', input, background: true };
    const { status, body } = await service.request<ResponseBody>('POST', '/v1/responses', fields);
    expect(status).toBe(202);
    return body;
  };

  const textOf = async (id: string): Promise<string | undefined> => {
    const { body } = await service.request<ResponseBody>('GET', `/v1/responses/${id}`);
    return body.output[0]?.content[0]?.text;
  };

  it('has a model that says what the test says, and else what it was told', async () => {
    service.engine.answers('Of course.');
    const [first, second] = [await accept('Will it answer?'), await accept('Say this again.')];
    expect((await service.runToEnd(first.lmsp.task_id)).status).toBe('completed');
    expect((await service.runToEnd(second.lmsp.task_id)).status).toBe('completed');
    expect([await textOf(first.id), await textOf(second.id)]).toEqual(['Of course.', 'Say this again.']);
    expect(service.engine.prompts.map(({ text }) => text)).toEqual(['Will it answer?', 'Say this again.']);
  });

  it('crashAndRestart keeps what is on disk, and what was running goes on', async () => {
    service.engine.answers('one two three four', 'five');
    service.engine.hold('steps');
    const { id, lmsp } = await accept('Count.');
    const behind = await accept('Go on counting.');
    service.engine.step(3);
    await waitFor('tokens on disk', async () => {
      const { body } = await service.request<{ last_sequence_number: number }>('GET', `/v1/tasks/${lmsp.task_id}`);
      return body.last_sequence_number >= 5;
    });
    const before = [service.url, service.token];
    await service.crashAndRestart();
    expect(service.url).not.toBe(before[0]);
    expect(service.token).toBe(before[1]);
    expect(await service.runToEnd(lmsp.task_id)).toMatchObject({ status: 'completed', attempt: 2 });
    expect((await service.runToEnd(behind.lmsp.task_id)).attempt).toBe(1);
    expect([await textOf(id), await textOf(behind.id)]).toEqual(['one two three four', 'five']);
    await service.checkLogs();
  });

  it('checkLogs refuses a log that breaks a rule', async () => {
    const { lmsp } = await accept('Break me.');
    await service.runToEnd(lmsp.task_id);
    await service.checkLogs();
    const units = service.app.get(UnitOfWork, { strict: false });
    await units.run((tx) => tx.execute('UPDATE tasks SET last_sequence_number = 99 WHERE id = ?', [lmsp.task_id]));
    await expect(service.checkLogs()).rejects.toThrow(/last_sequence_number 99 of \d+ events/);
  });
});
