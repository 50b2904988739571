import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, relative, sep } from 'node:path';

export interface HubFile {
  path: string;
  bytes: Buffer;
}

/** One request for a file, as a fault finds it. */
export interface FileRequest {
  hub: FakeHub;
  request: IncomingMessage;
  answer: ServerResponse;
  path: string;
  bytes: Buffer;
  /** Where the range begins; 0 without one. */
  from: number;
}

/** What the hub does in the place of a good answer. */
export type HubFault = (request: FileRequest) => unknown;

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const gitSha1 = (bytes: Buffer): string =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

/** Larger files are in LFS, as at the real one. */
const LFS_BYTES = 100_000;
const PAGE = 5;

/** A hub on loopback that speaks as Hugging Face does, counts what it serves and misbehaves as told. */
export class FakeHub {
  /** What the branch `main` is; `move` makes it another, and the ones before stay. */
  commit = 'a'.repeat(40);
  private readonly commits = new Set([this.commit]);
  readonly requests: { path: string; range: string | null; authorization: string | null }[] = [];
  /** Bytes of each file that were handed to the network. */
  readonly served = new Map<string, number>();
  /** In the place of the listing. */
  listing: ((entries: Record<string, unknown>[]) => unknown) | null = null;
  /** In the place of every answer. */
  everything: ((request: IncomingMessage, answer: ServerResponse) => boolean) | null = null;
  private readonly faults = new Map<string, { fault: HubFault; times: number }>();

  private constructor(
    readonly repository: string,
    readonly files: HubFile[],
    private readonly server: Server,
  ) {
    server.on('request', (request: IncomingMessage, answer: ServerResponse) => void this.answer(request, answer));
  }

  /** @param source a folder, or the files themselves */
  static async start(repository: string, source: string | HubFile[], port = 0): Promise<FakeHub> {
    const server = createServer();
    const files = typeof source === 'string' ? await filesOf(source) : source;
    const hub = new FakeHub(repository, files, server);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return hub;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  move(commit: string): void {
    this.commits.add(commit);
    this.commit = commit;
  }

  bytes(path: string): Buffer {
    const file = this.files.find((each) => each.path === path);
    if (!file) throw new Error(`no ${path}`);
    return file.bytes;
  }

  /** The next `times` requests for the file meet this. */
  fault(path: string, fault: HubFault, times = 1): void {
    this.faults.set(path, { fault, times });
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** A good answer to a request for a file, as far as `to`; resolves once that is handed over. */
  async send({ request, answer, path, bytes, from }: FileRequest, to = bytes.length): Promise<void> {
    const isPart = request.headers.range !== undefined;
    const { length } = bytes;
    answer.writeHead(isPart ? 206 : 200, {
      'content-length': length - from,
      ...(isPart && { 'content-range': `bytes ${from}-${length - 1}/${length}` }),
    });
    await this.write(answer, path, bytes.subarray(from, to));
    if (to === length) answer.end();
  }

  /** In pieces, each counted when it is handed over. */
  async write(answer: ServerResponse, path: string, bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length && !answer.destroyed; at += 65_536) {
      const piece = bytes.subarray(at, at + 65_536);
      this.served.set(path, (this.served.get(path) ?? 0) + piece.length);
      await written(answer, piece);
    }
  }

  private async answer(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    const { authorization = null, range = null } = request.headers;
    this.requests.push({ path: url.pathname, range, authorization });
    if (this.everything?.(request, answer)) return;
    const api = `/api/models/${this.repository}/`;
    if (url.pathname.startsWith(`${api}revision/`)) return this.json(answer, { sha: this.commit });
    if (this.commits.has(url.pathname.slice(`${api}tree/`.length))) return this.list(url, answer);
    const [, commit = '', path = ''] =
      new RegExp(`^/${this.repository}/resolve/([0-9a-f]{40})/(.+)$`).exec(decodeURIComponent(url.pathname)) ?? [];
    const file = this.commits.has(commit) ? this.files.find((each) => each.path === path) : undefined;
    if (!file) return void answer.writeHead(404).end('Entry not found');
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    const context = { hub: this, request, answer, path, bytes: file.bytes, from };
    const fault = this.faults.get(path);
    if (fault && fault.times-- > 0) await fault.fault(context);
    else await this.send(context);
  }

  private json(answer: ServerResponse, value: unknown, headers: Record<string, string> = {}): void {
    answer.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
  }

  private list(url: URL, answer: ServerResponse): void {
    if (this.listing) return this.json(answer, this.listing(this.entries()));
    const from = Number(url.searchParams.get('cursor') ?? 0);
    const entries = this.entries();
    url.searchParams.set('cursor', String(from + PAGE));
    const link: Record<string, string> = from + PAGE < entries.length ? { link: `<${url.href}>; rel="next"` } : {};
    this.json(answer, entries.slice(from, from + PAGE), link);
  }

  /** The files as the hub lists them. */
  entries(): Record<string, unknown>[] {
    return this.files.map(({ path, bytes }) => {
      const lfs = bytes.length > LFS_BYTES ? { oid: sha256(bytes), size: bytes.length, pointerSize: 130 } : undefined;
      return { type: 'file', oid: gitSha1(bytes), size: bytes.length, path, ...(lfs && { lfs }) };
    });
  }
}

/** Resolves once the system has taken it, so that a connection that is then closed loses none of it; or it was closed. */
function written(answer: ServerResponse, piece: Buffer): Promise<void> {
  return new Promise((resolve) => {
    answer.once('close', resolve);
    answer.write(piece, () => {
      answer.off('close', resolve);
      resolve();
    });
  });
}

async function filesOf(folder: string): Promise<HubFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    paths.map(async (path) => ({ path: relative(folder, path).split(sep).join('/'), bytes: await readFile(path) })),
  );
}
