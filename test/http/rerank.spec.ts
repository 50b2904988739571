import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POCKET_EMBED } from '../contract/encoders.js';
import { HttpApp, type Answer } from '../support/http-app.js';
import { registerModel } from '../support/register-model.js';
import { tinyScore, writeTinyReranker } from '../support/tiny-reranker.js';

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start();
  const directory = join(mkdtempSync(join(tmpdir(), 'lmsp-reranker-')), 'tiny');
  await writeTinyReranker(directory);
  await registerModel(http, { id: 'tiny-reranker', type: 'rerank', directory });
});
afterAll(() => http.close());

const QUERY = 'what is a cat';
const DOCUMENTS = ['stone', 'a cat is an animal', 'a dog is a dog', 'stone'];

const rerank = (fields: Record<string, unknown> = {}): Promise<Answer> =>
  http.call('POST', '/v1/rerank', { model: 'tiny-reranker', query: QUERY, documents: DOCUMENTS, ...fields });

interface Result {
  index: number;
  relevance_score: number;
}

describe('POST /v1/rerank (WIRE B2)', () => {
  it('gives the documents by index, the best first, equal ones in their order', async () => {
    const { status, body } = await rerank();
    expect([status, body.model]).toEqual([200, 'tiny-reranker']);
    const expected = DOCUMENTS.map((text, index) => ({ index, score: 1 / (1 + Math.exp(-tinyScore(QUERY, text))) }));
    expected.sort((a, b) => b.score - a.score);
    expect(body.results.map(({ index }: Result) => index)).toEqual(expected.map(({ index }) => index));
    body.results.forEach((result: Result, i: number) => {
      expect(result.relevance_score).toBeCloseTo(expected[i]!.score, 5);
    });
    // [CLS] question [SEP] document [SEP]
    expect(body.usage).toEqual({ prompt_tokens: 8 + 12 + 12 + 8, total_tokens: 40 });
  });

  it('gives top_n of them, or all there are', async () => {
    const all = (await rerank()).body.results as Result[];
    expect((await rerank({ top_n: 2 })).body.results).toEqual(all.slice(0, 2));
    expect((await rerank({ top_n: 50, return_documents: false })).body.results).toHaveLength(4);
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    ['no query', { query: undefined }, 'missing_required_parameter', 'query'],
    ['an empty query', { query: '' }, 'invalid_value', 'query'],
    ['no documents', { documents: undefined }, 'missing_required_parameter', 'documents'],
    ['an empty list', { documents: [] }, 'invalid_value', 'documents'],
    ['a text in the place of the list', { documents: 'stone' }, 'invalid_type', 'documents'],
    ['an object among the documents', { documents: [{ text: 'stone' }] }, 'invalid_type', 'documents[0]'],
    ['an empty document', { documents: ['stone', ''] }, 'invalid_value', 'documents[1]'],
    ['too many documents', { documents: new Array(2049).fill('a') }, 'invalid_value', 'documents'],
    ['a top_n of nothing', { top_n: 0 }, 'invalid_value', 'top_n'],
    ['a wish for the documents', { return_documents: true }, 'unsupported_parameter', 'return_documents'],
    ['a document too long', { documents: ['a', 'a '.repeat(12)] }, 'context_length_exceeded', 'documents[1]'],
    ['an embedding model', { model: 'pocket-embed' }, 'unsupported_value', 'model'],
    ['a text model', { model: 'pocket' }, 'unsupported_value', 'model'],
  ])('refuses %s', async (_, fields, code, param) => {
    const { status, body } = await rerank(fields);
    expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
  });

  it('is a fault of the model where its graph gives no score', async () => {
    const { directory } = POCKET_EMBED;
    const { state, error } = await registerModel(http, { id: 'no-reranker', type: 'rerank', directory });
    expect([state, error]).toMatchObject(['error', { code: 'model_unsupported' }]);
    const { status, body } = await rerank({ model: 'no-reranker' });
    expect([status, body.error.code]).toEqual([503, 'model_unavailable']);
  });

  it('is not what embeddings are made with', async () => {
    const { status, body } = await http.call('POST', '/v1/embeddings', { model: 'tiny-reranker', input: 'a' });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'unsupported_value', 'model']);
  });
});
