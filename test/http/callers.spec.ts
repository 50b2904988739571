import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpApp } from '../support/http-app.js';
import { RawConnection } from '../support/raw-connection.js';
import { freePort } from '../support/free-port.js';

const PAGE = 'https://app.example';

let http: HttpApp;
let metricsPort: number;
beforeAll(async () => {
  metricsPort = await freePort();
  http = await HttpApp.start({
    env: {
      LMSP_ALLOWED_HOSTS: 'lmsp.lan, box.lan:8443',
      LMSP_ALLOWED_ORIGINS: PAGE,
      LMSP_METRICS_PORT: String(metricsPort),
    },
  });
});
afterAll(() => http.close());

const ROUTES = [
  'GET /health',
  'GET /ready',
  'GET /metrics',
  'GET /v1/service',
  'GET /v1/models',
  'POST /v1/responses',
  'GET /v1/tasks/task_x/events',
  'POST /oauth/token',
  'GET /docs',
  'GET /nowhere',
  'GET /%E0%A4%A',
  'OPTIONS *',
];

/** Status and code of the answer to a request with exactly these lines; Node's fetch lets nobody choose a Host. */
async function ask(request: string, lines: string[], port = http.port): Promise<[status: number, code: string | null]> {
  const connection = await RawConnection.open(port);
  connection.send(`${request} HTTP/1.1`, ...lines, 'Accept: text/event-stream', 'Connection: close', '', '');
  const answer = await connection.ends();
  return [Number(answer.slice(9, 12)), /"code":"(\w+)"/.exec(answer)?.[1] ?? null];
}

describe('the name by which the service is called (WIRE B0, CASES BL-36)', () => {
  const own = (name: string): string => `Host: ${name}:${http.port}`;

  it.each(ROUTES)('%s is refused to a name that is not ours, before any work', async (route) => {
    const strangers = [
      ['Host: evil.example'],
      [own('evil.example')],
      [own('127.0.0.1.evil.example')],
      [own('localhost.evil.example')],
      [],
      ['Host:'],
      [own('localhost'), own('localhost')],
      [own('localhost'), 'Host: evil.example'],
    ];
    for (const lines of strangers) {
      expect(await ask(route, lines), lines.join(' ')).toEqual([403, 'host_not_allowed']);
    }
    expect(http.faults).toEqual([]);
  });

  it.each([
    '127.1.evil.example',
    '0.0.0.0',
    '[::]',
    '127.0.0.1:1',
    '127.0.0.1:65536',
    'a@localhost',
    '127.0.0.256',
    '',
  ])('is not %s', async (name) => {
    expect(await ask('GET /health', [`Host: ${name}`])).toEqual([403, 'host_not_allowed']);
  });

  it('is not named in the request line, whatever Host says', async () => {
    for (const url of ['http://evil.example/health', `http://localhost:${http.port}/health`]) {
      expect(await ask(`GET ${url}`, [own('localhost')])).toEqual([403, 'host_not_allowed']);
    }
  });

  it('may be any name of this machine to itself, with our port or none', async () => {
    for (const name of ['localhost', 'LOCALHOST', '127.0.0.1', '127.8.9.10', '[::1]']) {
      expect(await ask('GET /health', [own(name)]), name).toEqual([200, null]);
      expect(await ask('GET /health', [`Host: ${name}`]), name).toEqual([200, null]);
    }
  });

  it('may be one that was configured, with its port where it has one', async () => {
    expect(await ask('GET /health', ['Host: lmsp.lan'])).toEqual([200, null]);
    expect(await ask('GET /health', ['Host: lmsp.lan:8080'])).toEqual([200, null]);
    expect(await ask('GET /health', ['Host: Box.lan:8443'])).toEqual([200, null]);
    expect(await ask('GET /health', ['Host: box.lan'])).toEqual([403, 'host_not_allowed']);
  });

  it('is asked for on the second port of the metrics as well', async () => {
    const name = `Host: localhost:${metricsPort}`;
    expect(await ask('GET /metrics', [name], metricsPort)).toEqual([200, null]);
    for (const lines of [['Host: evil.example'], [], [name, name]]) {
      expect(await ask('GET /metrics', lines, metricsPort)).toEqual([403, 'host_not_allowed']);
    }
    expect(await ask('GET http://evil.example/metrics', [name], metricsPort)).toEqual([403, 'host_not_allowed']);
  });
});

describe('the web page that calls (WIRE B0)', () => {
  const from = (origin: string, headers: Record<string, string> = {}) =>
    fetch(`${http.url}/v1/models`, { headers: { Authorization: `Bearer ${http.token}`, Origin: origin, ...headers } });

  it.each(['https://evil.example', 'null', 'http://app.example', 'https://app.example.evil', 'http://localhost:1'])(
    'is refused from %s, with a valid token too',
    async (origin) => {
      const answer = await from(origin);
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([403, null]);
      expect(await answer.json()).toMatchObject({ error: { code: 'origin_not_allowed', type: 'permission_error' } });
      const preflight = await fetch(`${http.url}/v1/models`, { method: 'OPTIONS', headers: { Origin: origin } });
      expect(preflight.status).toBe(403);
    },
  );

  it('may be of the service itself, which needs no CORS', async () => {
    const answer = await from(http.url);
    expect(answer.status).toBe(200);
  });

  it('may be one that was configured: it reads answers and errors, and sends no credentials of the browser', async () => {
    for (const [answer, status] of [
      [await from(PAGE), 200],
      [await from(PAGE, { Authorization: 'Bearer x' }), 401],
    ] as const) {
      expect(answer.status).toBe(status);
      expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE);
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
      expect(answer.headers.get('vary')).toContain('Origin');
      expect(answer.headers.get('access-control-expose-headers')).toContain('LMSP-Task-Id');
    }
  });

  it('asks first, and hears what it may send', async () => {
    const answer = await fetch(`${http.url}/v1/responses`, {
      method: 'OPTIONS',
      headers: {
        Origin: PAGE,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization,x-evil,x-stainless-lang',
      },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(answer.headers.get('access-control-allow-methods')).toContain('POST');
    const headers = answer.headers.get('access-control-allow-headers')?.toLowerCase().split(',') ?? [];
    const mine = ['authorization', 'content-type', 'idempotency-key', 'last-event-id', 'x-request-id'];
    expect(headers).toEqual(expect.arrayContaining([...mine, 'x-stainless-lang']));
    expect(headers).not.toContain('x-evil');
  });

  it('finds no CORS where no origin is configured', async () => {
    const plain = await HttpApp.start();
    try {
      const answer = await plain.fetch('GET', '/v1/models');
      expect([answer.status, answer.headers.get('access-control-allow-origin'), answer.headers.get('vary')]).toEqual([
        200,
        null,
        null,
      ]);
      expect((await plain.fetch('GET', '/v1/models', undefined, { Origin: PAGE })).status).toBe(403);
      expect((await plain.fetch('OPTIONS', '/v1/models')).status).toBe(405);
    } finally {
      await plain.close();
    }
  });
});

describe('what a browser may do with an answer', () => {
  it.each(['/health', '/v1/models', '/nowhere'])(
    'of %s: show it nowhere, load nothing, pass nothing on',
    async (path) => {
      const { headers } = await fetch(`${http.url}${path}`);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'",
      );
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      expect(headers.get('x-frame-options')).toBe('DENY');
      // It would count for every other port of localhost.
      expect(headers.get('strict-transport-security')).toBeNull();
    },
  );

  it('of a page: what the page has stated', async () => {
    for (const path of ['/docs', '/docs/swagger-ui.css']) {
      const { headers } = await fetch(`${http.url}${path}`);
      expect(headers.get('content-security-policy')).toContain("style-src 'self' 'unsafe-inline'");
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    }
    expect((await fetch(`${http.url}/docsx`)).headers.get('content-security-policy')).not.toContain('unsafe');
  });
});
