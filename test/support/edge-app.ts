import type { AddressInfo } from 'node:net';
import type { Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { CONFIG, loadConfig } from '../../src/config/index.js';
import { configureApp, EDGE_OPTIONS, EventStreams, HttpModule } from '../../src/http/index.js';
import { Notices, type NoticeTypes } from '../../src/notices/index.js';

/** The HTTP edge on a real port, in front of a test's own controllers: nothing else of the service. */
export class EdgeApp {
  readonly requests: NoticeTypes['http.request'][] = [];
  readonly faults: unknown[] = [];

  private constructor(
    private readonly app: NestExpressApplication,
    readonly port: number,
  ) {
    const notices = app.get(Notices, { strict: false });
    notices.on('http.request', (notice) => void this.requests.push(notice));
    notices.on('http.fault', ({ error }) => void this.faults.push(error));
  }

  static async start(controllers: Type[], env: Record<string, string> = {}): Promise<EdgeApp> {
    const module = await Test.createTestingModule({ imports: [HttpModule], controllers })
      .overrideProvider(CONFIG)
      .useValue(loadConfig(env))
      .compile();
    const app = configureApp(module.createNestApplication<NestExpressApplication>({ ...EDGE_OPTIONS, logger: false }));
    await app.listen(0, '127.0.0.1');
    return new EdgeApp(app, (app.getHttpServer().address() as AddressInfo).port);
  }

  get streams(): EventStreams {
    return this.app.get(EventStreams, { strict: false });
  }

  fetch(path: string, init?: RequestInit): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.port}${path}`, init);
  }

  post(path: string, body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Response> {
    return this.fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : new Uint8Array(body),
    });
  }

  close(): Promise<void> {
    return this.app.close();
  }
}
