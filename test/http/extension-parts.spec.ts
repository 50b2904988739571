import { join } from 'node:path';
import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/index.js';
import { StartRefused } from '../../src/errors/index.js';
import { Public, RequireScope, type Extension } from '../../src/index.js';
import { exitCodeOf } from '../../src/operations/index.js';
import { HttpApp } from '../support/http-app.js';
import { CountType, ShelfEngine, shelfExtension, ShelfSource } from '../support/shelf-extension.js';

let http: HttpApp;

beforeAll(async () => {
  ShelfSource.folder = join(packageRoot(), 'models/pocket-embed');
  http = await HttpApp.start({ extensions: [shelfExtension] });
});

afterAll(() => http.close());

describe('what an extension adds (HOUSE 3.4, 3.5)', () => {
  it('a task type runs with a cursor and asks models; recorders and listeners know of each change', async () => {
    const accepted = await http.call('POST', '/v1/tasks', { type: 'shelf.count', input: { to: 2 } });
    expect(accepted.status).toBe(202);
    const task = await http.task(accepted.body.id, 'completed');
    expect(task.result).toEqual({ last: 'from the shelf' });
    const news = await http.call('GET', '/v1/shelf/news');
    expect(news.body.ledger).toEqual(
      ['queued', 'running', 'completed'].map((status) => ({ task_id: accepted.body.id, status })),
    );
    expect(news.body.heard).toContain('shelf.count completed');
  });

  it('the strategy InferenceEngine: its engine opens every text model, and ours none', () => {
    expect(http.app.get(ShelfEngine, { strict: false }).opened).toContain('pocket');
    expect(http.engine.models).toEqual([]);
  });

  it('the strategy ModelSource: pulls come from there, each file checked', async () => {
    const pull = (repository: string) =>
      http.call('POST', '/v1/models/pull', { repository, id: repository.replace('/', '-') });
    const task = await http.task((await pull('shelf/embed')).body.id, 'completed', 'failed');
    expect(task).toMatchObject({ status: 'completed', result: { repository: 'shelf/embed', commit: '0'.repeat(40) } });
    const embedded = await http.call('POST', '/v1/embeddings', { model: 'shelf-embed', input: 'Hello' });
    expect(embedded.status).toBe(200);
    const missing = await http.task((await pull('shelf/nothing')).body.id, 'failed');
    expect(missing.error.code).toBe('model_not_found');
  });
});

describe('what two have claimed is refused at the start with exit code 78, and both are named', () => {
  @Module({})
  class OtherModule {}

  @Controller('v1/models')
  class OwnModels {
    @Get()
    @Public()
    list(): string {
      return '';
    }
  }

  @Module({ controllers: [OwnModels] })
  class RouteModule {}

  @Controller('v1/other')
  class Unscoped {
    @Get()
    @RequireScope('other:read')
    list(): string {
      return '';
    }
  }

  @Module({ controllers: [Unscoped] })
  class ScopeModule {}

  @Injectable()
  class OtherCount extends CountType {}

  const other = (parts: Partial<Extension>): Extension => ({
    name: 'other',
    version: '1.0.0',
    compatibleWith: '*',
    module: OtherModule,
    ...parts,
  });

  it.each<[string, Extension, string[]]>([
    ['a strategy', other({ strategies: { inferenceEngine: ShelfEngine } }), ['extension shelf', 'extension other']],
    ['a task type', other({ taskTypes: [OtherCount] }), ['shelf.count', 'shelf', 'other']],
    ['a route', other({ module: RouteModule }), ['GET /v1/models', 'ModelsController', 'OwnModels']],
    ['a scope that nobody declares', other({ module: ScopeModule }), ['GET /v1/other', 'Unscoped', 'other:read']],
  ])('%s', async (_, second, parts) => {
    const refusal: unknown = await HttpApp.start({ extensions: [shelfExtension, second] }).catch(
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(StartRefused);
    expect(exitCodeOf(refusal)).toBe(78);
    for (const part of parts) expect((refusal as Error).message).toContain(part);
  });
});
