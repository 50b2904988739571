import type { Application } from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessInWords, RouteAccesses } from '../../src/clients/index.js';
import { routePatterns } from '../../src/http/index.js';
import { HttpApp } from '../support/http-app.js';

/** WIRE B1 and B2, for the routes that exist. */
const EXPECTED: Record<string, string> = {
  'GET /health': 'none',
  'GET /ready': 'none',
  'GET /metrics': 'service:read',
  'GET /v1/service': 'service:read',
  'GET /v1/service/retention': 'operator:read',
  'POST /v1/service/retention/run': 'operator:manage',
  'POST /v1/service/stop': 'operator:manage',
  'GET /v1/audit': 'operator:read',
  'POST /oauth/device_authorization': 'none',
  'POST /oauth/token': 'none',
  'POST /oauth/revoke': 'none',
  'GET /.well-known/oauth-authorization-server': 'none',
  'GET /pair': 'none',
  'GET /v1/pairings': 'clients:manage',
  'POST /v1/pairings/:user_code/approve': 'clients:manage',
  'POST /v1/pairings/:user_code/deny': 'clients:manage',
  'GET /v1/clients': 'clients:manage',
  'POST /v1/clients': 'clients:manage',
  'GET /v1/clients/me': 'any token',
  'GET /v1/clients/:id': 'clients:manage or own',
  'PATCH /v1/clients/:id': 'clients:manage',
  'DELETE /v1/clients/:id': 'clients:manage or own',
  'POST /v1/clients/:id/rotate': 'clients:manage or own',
  'GET /v1/models': 'models:read',
  'GET /v1/models/*id': 'models:read',
  'POST /v1/models': 'models:manage',
  'DELETE /v1/models/*id': 'models:manage',
  'POST /v1/models/load': 'models:manage',
  'POST /v1/models/unload': 'models:manage',
  'POST /v1/models/pull': 'models:manage',
  'POST /v1/responses': 'responses:write',
  'POST /v1/responses/input_tokens': 'responses:write',
  'POST /v1/chat/completions': 'responses:write',
  'POST /v1/completions': 'responses:write',
  'POST /v1/tokenize': 'responses:write',
  'POST /v1/detokenize': 'responses:write',
  'GET /v1/responses/:id': 'responses:read',
  'DELETE /v1/responses/:id': 'responses:write',
  'POST /v1/responses/:id/cancel': 'tasks:cancel',
  'GET /v1/responses/:id/input_items': 'responses:read',
  'GET /v1/tasks': 'tasks:read or operator:read',
  'POST /v1/tasks': 'tasks:write',
  'GET /v1/tasks/:id': 'tasks:read',
  'GET /v1/tasks/:id/events': 'tasks:read',
  'POST /v1/tasks/:id/cancel': 'tasks:cancel or operator:manage',
};

/** Public files; nothing in them belongs to anyone. */
const DESCRIPTION = /^\/(?:docs(?:\/.*)?|openapi\.json)$/;

let http: HttpApp;
beforeAll(async () => {
  http = await HttpApp.start();
});
afterAll(() => http.close());

const walk = () => http.app.get(RouteAccesses, { strict: false }).all();

describe('every route of the application (WIRE B1, B2)', () => {
  it('says who may use it, as WIRE has it', () => {
    const found = walk().map(({ method, path, access }) => [`${method} ${path}`, accessInWords(access)] as const);
    process.stdout.write(
      [...found.map(([route, access]) => `${route}: ${access}`), `${found.length} routes\n`].join('\n'),
    );
    const known = found.filter(([route]) => route in EXPECTED);
    expect(Object.fromEntries(known)).toEqual(EXPECTED);
    // A route that is not in the list above has a mark all the same: the walk throws without one.
    expect(found.every(([, access]) => access !== '')).toBe(true);
  });

  it('is in the walk: express has no other but the description of the API', () => {
    const walked = new Set(walk().map(({ path }) => path));
    const others = routePatterns(http.app.getHttpAdapter().getInstance() as Application).filter(
      (path) => !walked.has(path) && path !== '{*path}' && !DESCRIPTION.test(path),
    );
    expect(others).toEqual([]);
  });
});
