import { spawn, type ChildProcess } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { distEntry } from './dist-entry.js';
import { temporaryDirectory } from './store.js';
import { waitFor } from './wait-for.js';

export interface ServiceOptions {
  env?: Record<string, string>;
  /** Kept directory of an earlier run; a new one by default. */
  dataDir?: string;
  /** Command instead of `node dist/src/main.js`. */
  command?: [string, ...string[]];
}

/** A start takes a second; a busy machine may take many. One that ends before says so at once. */
const START_MS = 60_000;

interface ServiceFile {
  url: string;
  pid: number;
}

/** A real service process on a data directory of its own: what black-box tests and crash tests talk to. */
export class ServiceProcess {
  url = '';
  token = '';
  /** The service itself, also where npm was started. */
  pid = 0;
  output = '';
  private readonly ended: Promise<number | null>;

  private constructor(
    readonly dataDir: string,
    readonly child: ChildProcess,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    }
    this.ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  }

  /** Resolves once the service is ready. Rejects with its output when it ends before. */
  static async start(options: ServiceOptions = {}): Promise<ServiceProcess> {
    const service = await ServiceProcess.launch(options);
    await service.ready();
    return service;
  }

  static async launch({ env = {}, dataDir, command }: ServiceOptions = {}): Promise<ServiceProcess> {
    const directory = dataDir ?? (await temporaryDirectory());
    await rm(join(directory, 'service.json'), { force: true });
    const [program, ...parameters] = command ?? [process.execPath, distEntry('main.js')];
    const child = spawn(program, parameters, {
      env: { ...process.env, LMSP_PORT: '0', LMSP_DATA_DIR: directory, UV_THREADPOOL_SIZE: '8', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    return new ServiceProcess(directory, child);
  }

  async ready(): Promise<void> {
    let exited = false;
    void this.ended.then(() => (exited = true));
    const { url, pid } = await waitFor(
      'service.json',
      () => {
        if (exited) throw new Error(`the service ended: ${this.output}`);
        return this.noted();
      },
      START_MS,
    );
    this.url = url;
    this.pid = pid;
    await waitFor(
      'readiness',
      async () => {
        if (exited) throw new Error(`the service ended: ${this.output}`);
        return (await fetch(`${url}/ready`).catch(() => null))?.ok;
      },
      START_MS,
    );
    this.token = (await readFile(join(this.dataDir, 'owner-token'), 'utf8')).trim();
  }

  /** What the service tells of itself once its port is open; null before. */
  async noted(): Promise<ServiceFile | null> {
    const text = await readFile(join(this.dataDir, 'service.json'), 'utf8').catch(() => null);
    return text === null ? null : (JSON.parse(text) as ServiceFile);
  }

  /** A request with the owner's token; the body is sent as JSON. */
  request(method: string, path: string, body?: unknown, init: RequestInit = {}): Promise<Response> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.token}` };
    if (body !== undefined) headers['content-type'] = 'application/json';
    return fetch(`${this.url}${path}`, {
      method,
      body: body === undefined ? undefined : JSON.stringify(body),
      ...init,
      headers: { ...headers, ...(init.headers as Record<string, string>) },
    });
  }

  /** As `request`, for an answer whose JSON is wanted. Rejects on a status of 400 or more. */
  async json<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.request(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text) as T;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** As a terminal's Ctrl-C: to every process of the group. */
  signalGroup(signal: NodeJS.Signals): void {
    if (this.child.pid !== undefined) process.kill(-this.child.pid, signal);
  }

  /** Exit code; null when a signal ended it. */
  exit(): Promise<number | null> {
    return this.ended;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  /** Ends the process if it still runs and removes the data directory. */
  async dispose(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      // Where npm was started, the service is another process of the group.
      this.signalGroup('SIGKILL');
      await this.ended;
    }
    await rm(this.dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}
