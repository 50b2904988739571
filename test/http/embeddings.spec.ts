import { mkdtempSync, readdirSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cosine, POCKET_EMBED } from '../contract/encoders.js';
import { HttpApp, type Answer } from '../support/http-app.js';
import { registerModel } from '../support/register-model.js';
import { waitFor } from '../support/wait-for.js';

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start();
});
afterAll(() => http.close());

const embed = (fields: Record<string, unknown>): Promise<Answer> =>
  http.call('POST', '/v1/embeddings', { model: 'pocket-embed', ...fields });

const TEXTS = ['I cannot log in', 'How do I reset my password?', 'The stock market fell on Monday.'];
/** Over 128 tokens. */
const LONG = 'one word and another '.repeat(100);

describe('POST /v1/embeddings (WIRE B2, B7)', () => {
  it('answers with a vector a text, in order, and counts tokens; floats by default', async () => {
    const { status, body } = await embed({ input: TEXTS });
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'list', model: 'pocket-embed' });
    expect(body.data.map(({ object, index }: { object: string; index: number }) => [object, index])).toEqual(
      TEXTS.map((_, index) => ['embedding', index]),
    );
    expect(body.usage.prompt_tokens).toBeGreaterThan(TEXTS.length);
    expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens);
    for (const [i, input] of TEXTS.entries()) {
      const alone = await embed({ input });
      expect(alone.body.data).toHaveLength(1);
      expect(cosine(alone.body.data[0].embedding, body.data[i].embedding)).toBeGreaterThan(0.9999);
    }
  });

  it('gives the same numbers as base64 of little-endian float32', async () => {
    const [floats, packed] = await Promise.all([
      embed({ input: TEXTS[0] }),
      embed({ input: TEXTS[0], encoding_format: 'base64' }),
    ]);
    const bytes = Buffer.from(packed.body.data[0].embedding, 'base64');
    const numbers = Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(i * 4));
    expect(numbers).toHaveLength(128);
    expect(cosine(numbers, floats.body.data[0].embedding)).toBeCloseTo(1, 6);
  });

  it('takes 2048 texts, and answers others while it writes so many numbers', async () => {
    const [{ status, body }, other] = await Promise.all([
      embed({ input: new Array(2048).fill('a') }),
      http.call('GET', '/v1/models'),
    ]);
    expect([status, other.status, body.data.length, body.data[2047].index]).toEqual([200, 200, 2048, 2047]);
    expect(body.usage.prompt_tokens).toBe(2048);
  });

  it('takes what changes nothing: null, user, the full dimensions', async () => {
    const { status, body } = await embed({ input: 'a', encoding_format: null, user: 'me', dimensions: 128, other: 1 });
    expect([status, body.data[0].embedding.length]).toEqual([200, 128]);
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    ['no model', { model: undefined, input: 'a' }, 'missing_required_parameter', 'model'],
    ['no input', {}, 'missing_required_parameter', 'input'],
    ['a number', { input: 5 }, 'invalid_type', 'input'],
    ['an empty text', { input: '' }, 'invalid_value', 'input'],
    ['no texts', { input: [] }, 'invalid_value', 'input'],
    ['an empty text among others', { input: ['a', ''] }, 'invalid_value', 'input[1]'],
    ['something else among texts', { input: ['a', 1] }, 'invalid_type', 'input[1]'],
    ['too many texts', { input: new Array(2049).fill('a') }, 'invalid_value', 'input'],
    ['tokens', { input: [1, 2, 3] }, 'unsupported_value', 'input'],
    ['lists of tokens', { input: [[1, 2], [3]] }, 'unsupported_value', 'input'],
    ['an unknown format', { input: 'a', encoding_format: 'int8' }, 'unsupported_value', 'encoding_format'],
    ['no dimensions', { input: 'a', dimensions: 0 }, 'invalid_value', 'dimensions'],
    ['dimensions', { input: 'a', dimensions: 64 }, 'unsupported_parameter', 'dimensions'],
    ['a text that is too long', { input: LONG }, 'context_length_exceeded', 'input'],
    ['one of them too long', { input: ['a', LONG] }, 'context_length_exceeded', 'input[1]'],
    ['a text model', { model: 'pocket', input: 'a' }, 'unsupported_value', 'model'],
  ])('refuses %s', async (_, fields, code, param) => {
    const { status, body } = await embed(fields);
    expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
  });

  it('knows no model of another name, and wants embeddings:write', async () => {
    const { status, body } = await embed({ model: 'nobody', input: 'a' });
    expect([status, body.error.code]).toEqual([404, 'model_not_found']);
    const Authorization = `Bearer ${await http.addClient('responses:write', 'models:manage')}`;
    for (const path of ['/v1/embeddings', '/v1/rerank']) {
      const refused = await http.call('POST', path, {}, { Authorization });
      expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope']);
    }
    const allowed = { Authorization: `Bearer ${await http.addClient('embeddings:write')}` };
    const answer = await http.call('POST', '/v1/embeddings', { model: 'pocket-embed', input: 'a' }, allowed);
    expect(answer.status).toBe(200);
  });

  it('is not what a response can be made with', async () => {
    for (const background of [true, false]) {
      const { status, body } = await http.create({ model: 'pocket-embed', background });
      expect([status, body.error.code, body.error.param]).toEqual([400, 'unsupported_value', 'model']);
    }
  });

  it('stores nothing (WIRE B0)', async () => {
    await embed({ input: 'a' });
    for (const table of ['tasks', 'responses', 'task_events']) {
      expect(await http.store.reader.query(`SELECT 1 FROM ${table} LIMIT 1`)).toEqual([]);
    }
  });

  it('cuts vectors where the model was trained for that, and brings them back to length 1', async () => {
    const directory = join(mkdtempSync(join(tmpdir(), 'lmsp-matryoshka-')), 'model');
    await cp(POCKET_EMBED.directory, directory, { recursive: true });
    const config = JSON.parse(await readFile(join(directory, 'config.json'), 'utf8')) as object;
    await writeFile(join(directory, 'config.json'), JSON.stringify({ ...config, matryoshka_dimensions: [32, 64] }));
    await registerModel(http, { id: 'org/cut', type: 'embedding', directory });
    const whole = await embed({ model: 'org/cut', input: 'a cat' });
    const short = await embed({ model: 'org/cut', input: 'a cat', dimensions: 64 });
    const [long, cut] = [whole, short].map(({ body }) => body.data[0].embedding as number[]);
    expect(cut).toHaveLength(64);
    expect(cosine(cut!, long!.slice(0, 64))).toBeCloseTo(1, 6);
    expect(Math.hypot(...cut!)).toBeCloseTo(1, 6);
    const refused = await embed({ model: 'org/cut', input: 'a cat', dimensions: 63 });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'unsupported_value']);
  });

  it('loads, shows and unloads such a model as any other', async () => {
    const loaded = await http.call('POST', '/v1/models/load', { model: 'pocket-embed' });
    expect(loaded.body.lmsp).toMatchObject({
      type: 'embedding',
      state: 'loaded',
      context_length: 128,
      embedding_dimensions: 128,
      exact: null,
    });
    const unloaded = await http.call('POST', '/v1/models/unload', { model: 'pocket-embed' });
    expect(unloaded.body.lmsp.state).toBe('available');
  });

  it('answers 500 when the process dies under a request, and the next request works (WIRE B9)', async () => {
    await embed({ input: 'a' });
    const runners = join(http.dataDir, 'runners');
    const many = embed({ input: new Array(2048).fill('a b c d e f g h i j k l m n o p') });
    await waitFor('the model to be busy', async () => {
      const metrics = await (await http.fetch('GET', '/metrics')).text();
      return /lmsp_batch_size\{model="pocket-embed"\} 1/.test(metrics);
    });
    const pids = readdirSync(runners).map((name) => Number.parseInt(name, 10));
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    const { status, body, headers } = await many;
    expect([status, body.error.code, headers.get('x-should-retry')]).toEqual([500, 'model_error', 'false']);
    expect((await embed({ input: 'a' })).status).toBe(200);
  });
});
