import { readFile } from 'node:fs/promises';
import { Agent, request as send } from 'node:http';
import { STATUS_OF_KIND, ERROR_CODES } from '../../src/errors/index.js';
import { ApiContract } from '../support/api-contract.js';
import { Random } from '../support/random.js';
import { ServiceProcess } from '../support/service-process.js';
import { openStoredLogs } from '../support/stored-logs.js';
import { RequestMaker, type ApiDocument, type FuzzRequest } from './request-maker.js';

const AT_ONCE = 8;
/** No answer takes so long: a request that does hangs. */
const HANG_MS = 60_000;
const STREAM_MS = 3000;
const ENV = {
  LMSP_LOG_LEVEL: 'warn',
  LMSP_STOP_GRACE_SECONDS: '1',
  // Else what is resident grows with the garbage that V8 has had no reason to collect.
  NODE_OPTIONS: '--max-old-space-size=64',
};
const KNOWN_FAILURES = new Set(
  Object.entries(ERROR_CODES)
    .filter(([, { kind }]) => STATUS_OF_KIND[kind] >= 500)
    .map(([code]) => code),
);

export interface FuzzFigures {
  requests: number;
  statuses: Record<string, number>;
  /** What went wrong, with the request. */
  findings: string[];
  /** Resident memory of the service, its peak in the first and in the last tenth. */
  memoryMb: { first: number; last: number; ratio: number };
  /** Of the stored logs after the end (WIRE B5). */
  storedTasks: number;
  seconds: number;
}

interface Answer {
  status: number;
  contentType: string | null;
  text: string;
}

/** Sends `requests` made from the description of the API to a service of its own, and judges each answer. */
export async function fuzz(requests: number, seed: number, progress: (line: string) => void): Promise<FuzzFigures> {
  const started = performance.now();
  const service = await ServiceProcess.start({ env: ENV });
  try {
    const run = new FuzzRun(service, await makerFor(service, new Random(seed)));
    await run.send(requests, progress);
    service.signal('SIGTERM');
    const code = await service.exit();
    const { tasks, faults } = await openStoredLogs(service.dataDir);
    const ended = code === 0 ? [] : [`the service ended with ${code}: ${service.output.slice(-2000)}`];
    return {
      requests,
      statuses: run.statuses,
      findings: [...run.findings, ...faults, ...ended],
      memoryMb: run.memory(),
      storedTasks: tasks.length,
      seconds: Math.round((performance.now() - started) / 1000),
    };
  } finally {
    await service.dispose();
  }
}

async function makerFor(service: ServiceProcess, random: Random) {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as ApiDocument;
  const owner = await service.json<{ id: string }>('GET', '/v1/clients/me');
  const scopes = ['models:read', 'tasks:read'];
  const reader = await service.json<{ id: string; token: string }>('POST', '/v1/clients', { name: 'reader', scopes });
  const tokens = { owner: service.token, reader: reader.token };
  const maker = new RequestMaker(document, random, tokens, new Set([owner.id, reader.id]));
  return { maker, contract: new ApiContract(document) };
}

class FuzzRun {
  readonly statuses: Record<string, number> = {};
  readonly findings: string[] = [];
  private readonly agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  private readonly samples: number[] = [];
  private sent = 0;

  constructor(
    private readonly service: ServiceProcess,
    private readonly tools: { maker: RequestMaker; contract: ApiContract },
  ) {}

  async send(requests: number, progress: (line: string) => void): Promise<void> {
    const worker = async (): Promise<void> => {
      while (this.sent < requests) {
        this.sent += 1;
        if (this.sent % 100 === 0) this.samples.push(await residentMb(this.service.pid));
        if (this.sent % 1000 === 0)
          progress(`${this.sent} requests: ${this.findings.length} findings, ${this.samples.at(-1)} MB`);
        await this.one(this.tools.maker.next());
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    this.agent.destroy();
  }

  memory(): FuzzFigures['memoryMb'] {
    const tenth = Math.max(1, Math.floor(this.samples.length / 10));
    const first = Math.max(...this.samples.slice(0, tenth));
    const last = Math.max(...this.samples.slice(-tenth));
    return { first, last, ratio: Number((last / first).toFixed(3)) };
  }

  private async one(request: FuzzRequest): Promise<void> {
    try {
      const answer = await this.ask(request);
      this.statuses[answer.status] = (this.statuses[answer.status] ?? 0) + 1;
      this.tools.maker.learn(answer.text);
      const complaint = this.judge(request, answer);
      if (complaint !== null) this.findings.push(complaint);
    } catch (error) {
      this.findings.push(`${name(request)}: ${String(error)}`);
    }
  }

  private judge(request: FuzzRequest, { status, contentType, text }: Answer): string | null {
    const isJson = contentType?.startsWith('application/json') ?? false;
    const body: unknown = isJson && text !== '' ? JSON.parse(text) : text || null;
    if (status >= 500) {
      const { code, status: probe } = {
        ...(body as { error?: { code: string } }).error,
        ...(body as { status?: string }),
      };
      if (probe === undefined && !KNOWN_FAILURES.has(code ?? ''))
        return `${name(request)}: ${status} ${text.slice(0, 300)}`;
      if (code === 'server_error') return `${name(request)}: ${text.slice(0, 300)}`;
    }
    return this.tools.contract.complaint({ method: request.method, path: request.path, status, contentType, body });
  }

  private ask({ method, path, headers, body }: FuzzRequest): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const length = body ? { 'content-length': String(body.length) } : {};
      const url = new URL(this.service.url);
      const options = {
        agent: this.agent,
        host: url.hostname,
        port: url.port,
        method,
        path: sendable(path),
        headers: { ...headers, ...length },
      };
      const request = send(options, (response) => {
        const chunks: Buffer[] = [];
        const contentType = response.headers['content-type'] ?? null;
        const finish = (): void => {
          clearTimeout(timer);
          resolve({ status: response.statusCode ?? 0, contentType, text: Buffer.concat(chunks).toString() });
        };
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('end', finish);
        // A reader that leaves in the middle of a stream is an ordinary one.
        if (contentType?.startsWith('text/event-stream'))
          setTimeout(() => (finish(), response.destroy()), STREAM_MS).unref();
      });
      const timer = setTimeout(() => request.destroy(new Error(`no answer within ${HANG_MS} ms`)), HANG_MS);
      request.once('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      request.end(body ?? undefined);
    });
  }
}

/** Escapes are sent as they were made; characters that no request line can hold are escaped. */
function sendable(path: string): string {
  return path.replace(/[^\x21-\x7e]+/g, encodeURIComponent);
}

function name({ operation, method, path, body }: FuzzRequest): string {
  return `${operation} ${method} ${path.slice(0, 200)} ${body ? body.toString('utf8', 0, 300) : ''}`;
}

async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}
