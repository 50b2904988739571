import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { AppModule } from '../../src/app.module.js';
import { hashOf, hintOf, newAccessToken } from '../../src/clients/access-token.js';
import type { Scope } from '../../src/clients/index.js';
import { CONFIG, loadConfig, type Config } from '../../src/config/index.js';
import { newIdentifier, Store } from '../../src/database/index.js';
import type { Extension } from '../../src/extension.js';
import { declaredBy } from '../../src/extensions/index.js';
import { configureApp, edgeOptions, EventStreams } from '../../src/http/index.js';
import { ProcessEncodingEngine, type EncodingEngine, type InferenceEngine } from '../../src/inference/index.js';
import { Notices, type NoticeTypes } from '../../src/notices/index.js';
import { describeApi } from '../../src/openapi/index.js';
import { Clock } from '../../src/retention/index.js';
import { Service } from '../../src/service.js';
import { inlineCodec } from '../../src/testing/inline-codec.js';
import { ApiContract } from './api-contract.js';
import { distEntry } from './dist-entry.js';
import { FakeEngine } from './fake-engine.js';
import { temporaryDirectory } from './store.js';
import { waitFor } from './wait-for.js';

function realEncodersOf(dataDir: string): EncodingEngine {
  const entry = distEntry('inference/onnx/encoder-main.js');
  return new ProcessEncodingEngine({ entry, runnersDirectory: join(dataDir, 'runners'), stallSeconds: 30 });
}

export interface HttpAppOptions {
  env?: Record<string, string>;
  engine?: FakeEngine;
  /** Used in the place of the fake engine. */
  otherEngine?: InferenceEngine;
  /** The real ones by default. */
  encoders?: EncodingEngine;
  /** Directory of an earlier app; it is then kept at the end. */
  dataDir?: string;
  clock?: Clock;
  extensions?: readonly Extension[];
  /** Hears the notices from the start on. */
  watch?: (notices: Notices) => void;
}

export interface Answer {
  status: number;
  headers: Headers;
  // Tests look into bodies of every shape.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

/** One event of a stream, as it lay on the wire. */
export interface WireEvent {
  id: string | null;
  event: string | null;
  data: string;
}

/** The whole service in this process: real store, real HTTP, the fake engine. */
export class HttpApp {
  readonly requests: NoticeTypes['http.request'][] = [];
  readonly faults: unknown[] = [];
  private stopped = false;
  private contract: Promise<ApiContract> | null = null;

  private constructor(
    readonly app: NestExpressApplication,
    private readonly service: Service,
    private readonly facts: {
      engine: FakeEngine;
      url: string;
      token: string;
      dataDir: string;
      keepsDirectory: boolean;
    },
  ) {
    const notices = app.get(Notices);
    notices.on('http.request', (notice) => void this.requests.push(notice));
    notices.on('http.fault', ({ error }) => void this.faults.push(error));
  }

  static async start(options: HttpAppOptions = {}): Promise<HttpApp> {
    const { env = {}, engine = new FakeEngine(), otherEngine = engine, dataDir, clock = new Clock() } = options;
    const directory = dataDir ?? (await temporaryDirectory());
    const workers = {
      inspectionEntry: distEntry('models/inspection-worker.js'),
      fileWorkerEntry: distEntry('pulls/file-worker.js'),
    };
    const { encoders = realEncodersOf(directory), extensions = [] } = options;
    const settings = { LMSP_PORT: '0', LMSP_DATA_DIR: directory, LMSP_BALLAST_BYTES: '0', ...env };
    const config = loadConfig(settings, declaredBy(extensions));
    const engines = { engine: otherEngine, encoders, codec: inlineCodec };
    const module = await Test.createTestingModule({
      imports: [AppModule.register({ ...engines, ...workers, extensions, env: settings })],
    })
      .overrideProvider(CONFIG)
      .useValue(config)
      .overrideProvider(Clock)
      .useValue(clock)
      .compile();
    const edge = { ...edgeOptions(config), logger: false } as const;
    const app = configureApp(module.createNestApplication<NestExpressApplication>(edge));
    options.watch?.(app.get(Notices));
    const service = new Service(app);
    const url = await service.start().catch(async (error: unknown) => {
      await app.get(Store, { strict: false }).close();
      throw error;
    });
    const token = (await readFile(join(directory, 'owner-token'), 'utf8')).trim();
    return new HttpApp(app, service, { engine, url, token, dataDir: directory, keepsDirectory: dataDir !== undefined });
  }

  get engine(): FakeEngine {
    return this.facts.engine;
  }

  get url(): string {
    return this.facts.url;
  }

  get token(): string {
    return this.facts.token;
  }

  get dataDir(): string {
    return this.facts.dataDir;
  }

  get config(): Config {
    return this.app.get<Config>(CONFIG);
  }

  get store(): Store {
    return this.app.get(Store, { strict: false });
  }

  get notices(): Notices {
    return this.app.get(Notices);
  }

  get streams(): EventStreams {
    return this.app.get(EventStreams, { strict: false });
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Another client with these scopes; resolves with its token. */
  async addClient(...scopes: Scope[]): Promise<string> {
    const token = newAccessToken();
    const row = [newIdentifier('cli'), JSON.stringify(scopes), hashOf(token), hintOf(token)];
    await this.store.units.run((tx) =>
      tx.execute(
        `INSERT INTO clients (id, name, owner, scopes, token_hash, token_hint, created_at)
         VALUES (?, 'other', 0, ?, ?, ?, 1)`,
        row,
      ),
    );
    return token;
  }

  /**
   * A request with the owner's token unless another is given; a body becomes JSON. The answer is held against the
   * description of the API (OPERATE 6).
   */
  async fetch(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Response> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${this.token}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    await this.checkContract(method, path, response);
    return response;
  }

  async call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
    const response = await this.fetch(method, path, body, headers);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  }

  private async checkContract(method: string, path: string, response: Response): Promise<void> {
    const { status, headers } = response;
    const contentType = headers.get('content-type');
    const isJson = contentType?.startsWith('application/json') ?? false;
    const text = isJson ? await response.clone().text() : '';
    this.contract ??= describeApi(this.app).then((document) => new ApiContract(document));
    const body: unknown = text === '' ? null : JSON.parse(text);
    const complaint = (await this.contract).complaint({ method, path, status, contentType, body });
    if (complaint !== null) throw new Error(complaint);
  }

  create(fields: Record<string, unknown> = {}, headers?: Record<string, string>): Promise<Answer> {
    return this.call('POST', '/v1/responses', { model: 'pocket', input: 'Hello', ...fields }, headers);
  }

  /** A create in the background; resolves with the response of the 202. */
  async accept(fields: Record<string, unknown> = {}) {
    const { status, body } = await this.create({ background: true, ...fields });
    if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`, { cause: this.faults.at(-1) });
    return body as { id: string; lmsp: { task_id: string; seed: number } };
  }

  /** Resolves with the task once it has one of the statuses. */
  async task(id: string, ...statuses: string[]) {
    return waitFor(`task ${id} to be ${statuses.join(' or ')}`, async () => {
      const { body } = await this.call('GET', `/v1/tasks/${id}`);
      return statuses.includes(body.status) ? body : null;
    });
  }

  /** The events of a stream that is read to its end. */
  async events(path: string, headers: Record<string, string> = {}): Promise<WireEvent[]> {
    const response = await this.fetch('GET', path, undefined, { Accept: 'text/event-stream', ...headers });
    return parseEvents(await response.text());
  }

  /** The clean stop; `close` does it where a test has not. */
  async stop(): Promise<void> {
    if (this.stopped) return;
    this.stopped = true;
    await this.service.stop('test');
  }

  async close(): Promise<void> {
    this.engine.release('loads');
    this.engine.release('steps');
    this.engine.release('runs');
    await this.stop();
    if (!this.facts.keepsDirectory) await rm(this.dataDir, { recursive: true, force: true });
  }
}

/** The frames of an event stream, comments and hints aside. */
export function parseEvents(text: string): WireEvent[] {
  const frames = text.split('\n\n').filter((frame) => /^(id|event|data):/m.test(frame));
  return frames.map((frame) => ({
    id: /^id: (.*)$/m.exec(frame)?.[1] ?? null,
    event: /^event: (.*)$/m.exec(frame)?.[1] ?? null,
    data: /^data: (.*)$/m.exec(frame)?.[1] ?? '',
  }));
}
