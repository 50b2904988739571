import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RouteAccesses } from '../../src/clients/index.js';
import { ERROR_CODES, STATUS_OF_KIND, type ErrorCode } from '../../src/errors/index.js';
import { ApiContract } from '../support/api-contract.js';
import { HttpApp } from '../support/http-app.js';

interface Operation {
  operationId?: string;
  summary?: string;
  security: Record<string, string[]>[];
  responses: Record<string, { description: string; content?: Record<string, { examples?: Record<string, Example> }> }>;
}

interface Example {
  value: unknown;
}

interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
}

describe('the description of the API (OPERATE 6)', () => {
  let app: HttpApp;
  let document: Document;

  beforeAll(async () => {
    app = await HttpApp.start();
    const response = await fetch(`${app.url}/openapi.json`);
    expect(response.status, 'it needs no token').toBe(200);
    document = (await response.json()) as Document;
  });

  afterAll(() => app.close());

  const operations = (): (Operation & { route: string })[] =>
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ ...operation, route: `${method.toUpperCase()} ${path}` })),
    );

  it('is openapi.json as it is committed (vitest -u writes it)', async () => {
    expect(document.openapi).toBe('3.1.0');
    await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot('../../openapi.json');
  });

  it('has every route of the application, with the scopes that its guard asks for', () => {
    const walked = app.app
      .get(RouteAccesses, { strict: false })
      .all()
      .map(({ method, path, access }) => {
        const asked =
          access.kind === 'public' ? [] : access.kind === 'any' ? [[]] : access.scopes.map((each) => [each]);
        const route = `${method} ${path.replace(/[:*](\w+)/g, '{$1}')}`;
        return [route, asked.map((token) => ({ token }))];
      });
    const described = operations().map(({ route, security }) => [route, security]);
    expect(Object.fromEntries(described)).toEqual(Object.fromEntries(walked));
  });

  it('gives each operation a name of its own and a line of meaning', () => {
    const ids = operations().map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(
      operations().filter(({ operationId, summary }) => !/^[a-z]\w+$/.test(operationId ?? '') || !summary),
    ).toEqual([]);
  });

  it('gives an example of each code, under the status that the code has, and it fits its schema', () => {
    const contract = new ApiContract(document);
    const complaints = operations().flatMap(({ route, responses }) => {
      const [method = '', path = ''] = route.split(' ');
      return Object.entries(responses).flatMap(([status, { content }]) =>
        Object.entries(content?.['application/json']?.examples ?? {}).map(([code, { value }]) => {
          expect(String(STATUS_OF_KIND[ERROR_CODES[code as ErrorCode].kind])).toBe(status);
          return contract.complaint({
            method,
            path,
            status: Number(status),
            contentType: 'application/json',
            body: value,
          });
        }),
      );
    });
    expect(complaints.length).toBeGreaterThan(100);
    expect(complaints.filter((complaint) => complaint !== null)).toEqual([]);
  });

  it('is shown by Swagger UI from files of this service alone', async () => {
    const page = await fetch(`${app.url}/docs`);
    expect(page.status).toBe(200);
    const html = await page.text();
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const sources = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source!);
    expect(sources.length).toBeGreaterThan(3);
    for (const source of sources) {
      expect(source).toMatch(/^\.\/|^\//);
      expect((await fetch(new URL(source, `${app.url}/docs`))).status, source).toBe(200);
    }
  });
});

describe('the check of answers against the description', () => {
  const contract = new ApiContract({
    paths: {
      '/v1/things/{id}': {
        get: {
          responses: {
            200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
          },
        },
      },
    },
    components: { schemas: { Thing: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } } } },
  });
  const answer = (body: unknown, status = 200, contentType = 'application/json') =>
    contract.complaint({ method: 'GET', path: '/v1/things/a?b=c', status, contentType, body });

  it('takes what is described', () => {
    expect(answer({ id: 'a' })).toBeNull();
    expect(contract.complaint({ method: 'GET', path: '/other', status: 404, contentType: null, body: {} })).toBeNull();
  });

  it.each([
    ['a field of another type', () => answer({ id: 1 }), 'must be string'],
    ['a missing field', () => answer({}), 'required'],
    ['a field that is not described', () => answer({ id: 'a', more: 1 }), 'additional properties'],
    ['a status that is not described', () => answer({ id: 'a' }, 201), 'not described'],
    ['another type', () => answer('a', 200, 'text/plain'), 'not described'],
  ])('complains of %s', (_, complaint, part) => {
    expect(complaint()).toContain(part);
  });
});
