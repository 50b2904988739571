import type { AddressInfo } from 'node:net';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Controller, Get, Post, type INestApplication } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { Test } from '@nestjs/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MIGRATIONS } from '../../../migrations/index.js';
import { hashOf, newAccessToken } from '../../../src/clients/access-token.js';
import { AuditModule } from '../../../src/audit/index.js';
import {
  AnyClient,
  ClientDirectory,
  ClientsModule,
  CurrentClient,
  Public,
  RequireScope,
  type Client,
} from '../../../src/clients/index.js';
import { AccessRefusals } from '../../../src/clients/access-refusals.js';
import { ScopeGuard } from '../../../src/clients/scope.guard.js';
import { CONFIG, loadConfig } from '../../../src/config/index.js';
import { DatabaseModule, Store } from '../../../src/database/index.js';
import { ENTITIES } from '../../../src/entities.js';
import { configureApp, EDGE_OPTIONS, HttpModule } from '../../../src/http/index.js';
import { RetentionModule } from '../../../src/retention/index.js';
import { temporaryDirectory } from '../../support/store.js';

@Controller('v1/things')
@RequireScope('tasks:read')
class ThingsController {
  @Get()
  list(@CurrentClient() client: Client) {
    return { client: client.id };
  }

  @Post()
  @RequireScope('tasks:write')
  create() {
    return { created: true };
  }
}

@Controller()
class OpenController {
  @Get('open')
  @Public()
  open() {
    return { open: true };
  }

  @Get('broken')
  @Public()
  broken(@CurrentClient() client: Client) {
    return client;
  }

  @Get('any')
  @AnyClient()
  any(@CurrentClient() client: Client) {
    return { name: client.name };
  }
}

describe('the guard before every route (WIRE B1, B8)', () => {
  let app: INestApplication;
  let dataDir: string;
  let url: string;
  let ownerToken: string;
  const readerToken = newAccessToken();

  beforeAll(async () => {
    dataDir = await temporaryDirectory();
    const database = DatabaseModule.register({ entities: ENTITIES, migrations: MIGRATIONS });
    const retention = RetentionModule.register({ imports: [database] });
    const audit = AuditModule.register({ imports: [database, retention] });
    const module = await Test.createTestingModule({
      imports: [HttpModule, ClientsModule.register({ imports: [database, retention, audit] })],
      controllers: [ThingsController, OpenController],
    })
      .overrideProvider(CONFIG)
      .useValue(loadConfig({ LMSP_DATA_DIR: dataDir }))
      .compile();
    app = configureApp(module.createNestApplication({ ...EDGE_OPTIONS, logger: false }));
    await app.listen(0, '127.0.0.1');
    url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
    ownerToken = (await readFile(join(dataDir, 'owner-token'), 'utf8')).trim();
    await app
      .get(Store, { strict: false })
      .units.run((tx) =>
        tx.execute(
          `INSERT INTO clients (id, name, owner, scopes, token_hash, created_at) VALUES ('cli_reader', 'reader', 0, '["tasks:read"]', ?, 1)`,
          [hashOf(readerToken)],
        ),
      );
  });

  afterAll(async () => {
    const store = app.get(Store, { strict: false });
    await app.close();
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const call = async (path: string, token?: string, init: RequestInit = {}) => {
    const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const response = await fetch(url + path, { ...init, headers: { ...headers, ...init.headers } });
    const body = (await response.json()) as { error?: { code: string } };
    return {
      status: response.status,
      code: body.error?.code,
      challenge: response.headers.get('www-authenticate'),
      body,
    };
  };

  test('without a token only public routes answer', async () => {
    expect(await call('/open')).toMatchObject({ status: 200, body: { open: true } });
    const refused = { status: 401, code: 'missing_api_key', challenge: 'Bearer realm="lmsp"' };
    expect(await call('/v1/things')).toMatchObject(refused);
    expect(await call('/any')).toMatchObject(refused);
  });

  test('a bad token is refused as invalid, on public routes it does not matter', async () => {
    expect(await call('/v1/things', 'lmsp_wrong')).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
      challenge: 'Bearer realm="lmsp", error="invalid_token"',
    });
    expect((await call('/open', 'lmsp_wrong')).status).toBe(200);
  });

  test("the class's scope holds for its routes, a route's own scope wins, and the missing one is named", async () => {
    expect(await call('/v1/things', readerToken)).toMatchObject({ status: 200, body: { client: 'cli_reader' } });
    expect(await call('/v1/things', readerToken, { method: 'POST' })).toMatchObject({
      status: 403,
      code: 'insufficient_scope',
      challenge: 'Bearer realm="lmsp", error="insufficient_scope", scope="tasks:write"',
    });
    expect((await call('/v1/things', ownerToken, { method: 'POST' })).status).toBe(201);
  });

  test('a route for any client takes any valid token', async () => {
    expect(await call('/any', readerToken)).toMatchObject({ status: 200, body: { name: 'reader' } });
    expect(await call('/any', ownerToken)).toMatchObject({ status: 200, body: { name: 'owner' } });
  });

  test("a stranger's body is never read: it may be broken and still the answer is 401", async () => {
    const init = { method: 'POST', body: '{"broken', headers: { 'Content-Type': 'application/json' } };
    expect(await call('/v1/things', undefined, init)).toMatchObject({ status: 401 });
    expect(await call('/v1/things', ownerToken, init)).toMatchObject({ status: 400, code: 'invalid_json' });
  });

  test('asking a public route for its client is a fault of the program', async () => {
    expect(await call('/broken', ownerToken)).toMatchObject({ status: 500, code: 'server_error' });
  });
});

@Controller('v1/forgotten')
class UnmarkedController {
  @Get()
  read() {
    return { secret: true };
  }
}

describe('a route that nobody marked (WIRE B1)', () => {
  test('keeps the service from starting, and is named', async () => {
    const dataDir = await temporaryDirectory();
    const database = DatabaseModule.register({ entities: ENTITIES, migrations: MIGRATIONS });
    const retention = RetentionModule.register({ imports: [database] });
    const audit = AuditModule.register({ imports: [database, retention] });
    const module = await Test.createTestingModule({
      imports: [HttpModule, ClientsModule.register({ imports: [database, retention, audit] })],
      controllers: [UnmarkedController],
    })
      .overrideProvider(CONFIG)
      .useValue(loadConfig({ LMSP_DATA_DIR: dataDir }))
      .compile();
    const app = configureApp(module.createNestApplication({ ...EDGE_OPTIONS, logger: false }));
    await expect(app.init()).rejects.toThrow('UnmarkedController.read says nowhere who may use it');
    // The guard does not rely on that.
    const guard = new ScopeGuard(
      new Reflector(),
      app.get(ClientDirectory, { strict: false }),
      app.get(AccessRefusals, { strict: false }),
    );
    const context = new ExecutionContextHost([], UnmarkedController, UnmarkedController.prototype.read);
    await expect(guard.canActivate(context)).rejects.toThrow('without a mark');
    await app.get(Store, { strict: false }).close();
    await rm(dataDir, { recursive: true, force: true });
  });
});
