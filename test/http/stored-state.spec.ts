import { open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpApp } from '../support/http-app.js';

const KEY = 'a-key';
const SLICE_BYTES = 64;

/** What chapter 11.1 asks of the store, looked up in the file after one keyed background response. */
describe('the state of a service (chapter 11.1)', () => {
  let app: HttpApp;
  let responseId: string;
  let taskId: string;

  beforeAll(async () => {
    app = await HttpApp.start();
    const created = await app.call(
      'POST',
      '/v1/responses',
      { model: 'pocket', input: 'Hello', background: true, max_output_tokens: 4 },
      { 'Idempotency-Key': KEY },
    );
    expect(created.status).toBe(202);
    responseId = created.body.id;
    taskId = created.body.lmsp.task_id;
    await app.task(taskId, 'completed');
  });

  afterAll(() => app.close());

  const rows = (sql: string, parameters: unknown[] = []) =>
    app.store.reader.query<Record<string, string | number | null>>(sql, parameters);

  it('S1: is one SQLite file in the data directory, and nothing beside it but its log', async () => {
    const head = Buffer.alloc(16);
    const file = await open(app.store.file, 'r');
    await file.read(head, 0, head.length, 0);
    await file.close();
    expect(head.toString('latin1')).toBe('SQLite format 3\0');
    const databases = (await readdir(app.dataDir)).filter((name) => /sqlite|\.db/.test(name));
    expect(databases.every((name) => /^lmsp\.sqlite(-wal|-shm)?$/.test(name))).toBe(true);
  });

  it('S2a: service_config has the identity of the service', async () => {
    const { body } = await app.call('GET', '/v1/service');
    expect(await rows(`select value from service_config where key = 'service_id'`)).toEqual([{ value: body.id }]);
  });

  it('S2b: clients has scopes and the hash of the token, never the token', async () => {
    const [owner] = await rows('select * from clients where owner = 1');
    expect(JSON.parse(owner!.scopes as string)).toContain('responses:write');
    expect(owner!.token_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(owner)).not.toContain(app.token);
  });

  it('S2c: models has metadata and the digest of the content', async () => {
    const { body } = await app.call('GET', '/v1/models/pocket');
    const [model] = await rows(`select * from models where id = 'pocket'`);
    expect(model).toMatchObject({ type: 'llm', digest: body.lmsp.digest, context_length: body.lmsp.context_length });
    expect(model!.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('S2d: responses has the response as it is answered', async () => {
    const { body } = await app.call('GET', `/v1/responses/${responseId}`);
    const [stored] = await rows('select status, body from responses where id = ?', [responseId]);
    expect(stored!.status).toBe(body.status);
    expect(JSON.parse(stored!.body as string).output).toEqual(body.output);
  });

  it('S2e: tasks has the task of the response', async () => {
    expect(await rows('select id, status from tasks where response_id = ?', [responseId])).toEqual([
      { id: taskId, status: 'completed' },
    ]);
  });

  it('S2f: task_events has its log, numbered from 0 without a gap', async () => {
    const events = await rows('select sequence_number as n, type from task_events where task_id = ? order by 1', [
      taskId,
    ]);
    expect(events.map(({ n }) => n)).toEqual(events.map((_, i) => i));
    expect(events[0]!.type).toBe('response.created');
    expect(events.at(-1)!.type).toMatch(/^response\.(completed|incomplete)$/);
  });

  it('S2g: idempotency_keys has the key, the digest of its request, and the task that is its result', async () => {
    const [held] = await rows('select fingerprint, task_id from idempotency_keys where key = ?', [KEY]);
    expect(held!.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(held!.task_id).toBe(taskId);
  });

  it('S3: the files of models stay outside: no part of the weights is in the database', async () => {
    const [model] = await rows(`select directory, graph_file, size_bytes from models where id = 'pocket'`);
    const graph = await readFile(join(model!.directory as string, model!.graph_file as string));
    const stored = await Promise.all(
      (await readdir(app.dataDir))
        .filter((name) => name.startsWith('lmsp.sqlite'))
        .map((name) => readFile(join(app.dataDir, name))),
    );
    for (let at = 0; at + SLICE_BYTES < graph.length; at += Math.ceil(graph.length / 20)) {
      const slice = graph.subarray(at, at + SLICE_BYTES);
      if (new Set(slice).size > SLICE_BYTES / 4) expect(stored.some((bytes) => bytes.includes(slice))).toBe(false);
    }
    const columns = await rows(`select name, type from pragma_table_info('models')`);
    expect(columns.map(({ type }) => String(type).toUpperCase())).not.toContain('BLOB');
    expect((await stat(app.store.file)).size).toBeLessThan(Number(model!.size_bytes));
  });
});
