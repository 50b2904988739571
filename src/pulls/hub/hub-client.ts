import type { IncomingMessage } from 'node:http';
import type { FilePieces, ListedFile, ModelSource } from '../model-source.js';
import type { HubConnection } from './hub-connection.js';
import { hubLied, refusalOf } from './hub-errors.js';
import { parseCommit, parsePage, refuseDuplicates } from './hub-listing.js';
import { isCommit } from './repository-name.js';

export interface HubLimits {
  maxFiles: number;
  maxListingBytes: number;
}

const MOST_PAGES = 1000;
/** Of the answer that names a commit: some hubs put the whole listing beside it. */
const JSON_HEAD = { Accept: 'application/json' };

/** What a pull asks a hub for (the API of the Hugging Face hub). */
export class HubClient implements ModelSource {
  constructor(
    private readonly hub: URL,
    private readonly connection: HubConnection,
    private readonly limits: HubLimits,
  ) {}

  get name(): string {
    return this.hub.href.replace(/\/+$/, '');
  }

  /** The commit that a revision is now. Throws model_not_found, hub_access_denied, hub_answer_invalid, SourceInterrupted. */
  async commitOf(repository: string, revision: string, signal: AbortSignal): Promise<string> {
    const url = this.url(`api/models/${repository}/revision/${encodeURIComponent(revision)}`);
    const { text } = await this.json(url, `repository ${repository} with a revision ${revision}`, signal, 0);
    const commit = parseCommit(text);
    if (!isCommit(commit)) throw hubLied(`names no commit for ${revision}`);
    if (isCommit(revision) && commit !== revision) throw hubLied(`names another commit for ${revision}`);
    return commit;
  }

  /** Every file of a commit. Throws as `commitOf`. */
  async list(repository: string, commit: string, signal: AbortSignal): Promise<ListedFile[]> {
    const first = this.url(`api/models/${repository}/tree/${commit}?recursive=true`);
    const files: ListedFile[] = [];
    let bytes = 0;
    let next: URL | null = first;
    for (let pages = 0; next !== null; pages++) {
      if (pages === MOST_PAGES) throw hubLied(`lists its files on more than ${MOST_PAGES} pages`);
      const { text, link } = await this.json(next, `files of ${repository} at ${commit}`, signal, bytes);
      bytes += Buffer.byteLength(text);
      files.push(...parsePage(text));
      if (files.length > this.limits.maxFiles) throw hubLied(`lists more than ${this.limits.maxFiles} files`);
      next = nextPage(link, first);
    }
    refuseDuplicates(files);
    return files;
  }

  /**
   * The bytes of a file from a place on. What the answer says of its length and place must fit the listing: throws
   * hub_answer_invalid. A hub that does not know ranges answers from 0.
   */
  async open(
    repository: string,
    commit: string,
    { path, sizeBytes }: ListedFile,
    from: number,
    signal: AbortSignal,
  ): Promise<FilePieces> {
    const url = this.url(`${repository}/resolve/${commit}/${path.split('/').map(encodeURIComponent).join('/')}`);
    const head: Record<string, string> = from === 0 ? {} : { Range: `bytes=${from}-` };
    const answer = await this.connection.get(url, head, signal);
    try {
      const start = startOf(answer, path, from, sizeBytes);
      refuseWebPage(answer, path);
      checkLength(answer, path, sizeBytes - start);
      return { from: start, pieces: this.connection.read(answer, signal) };
    } catch (error) {
      answer.destroy();
      throw error;
    }
  }

  private url(path: string): URL {
    return new URL(`${this.name}/${path}`);
  }

  private async json(
    url: URL,
    what: string,
    signal: AbortSignal,
    read: number,
  ): Promise<{ text: string; link: string | undefined }> {
    const answer = await this.connection.get(url, JSON_HEAD, signal);
    const pieces: Buffer[] = [];
    let bytes = read;
    try {
      refuseStatus(answer, what, [200]);
      for await (const piece of this.connection.read(answer, signal)) {
        bytes += piece.length;
        if (bytes > this.limits.maxListingBytes) throw hubLied(`lists its files in more than ${bytes} bytes`);
        pieces.push(piece);
      }
    } finally {
      answer.destroy();
    }
    const { link } = answer.headers;
    return { text: Buffer.concat(pieces).toString('utf8'), link: Array.isArray(link) ? link.join(', ') : link };
  }
}

function refuseStatus(answer: IncomingMessage, what: string, expected: readonly number[]): void {
  const status = answer.statusCode ?? 0;
  if (!expected.includes(status)) throw refusalOf(status, what, answer.headers['retry-after']);
}

/** Of `Link: <…>; rel="next"`: the same listing at the same hub, or it leads elsewhere. */
function nextPage(link: string | undefined, first: URL): URL | null {
  const [, target] = /<([^<>]+)>\s*;\s*rel="?next"?/.exec(link ?? '') ?? [];
  if (target === undefined) return null;
  const next = URL.canParse(target, first) ? new URL(target, first) : null;
  if (next?.origin !== first.origin || next.pathname !== first.pathname) throw hubLied('lists on at another address');
  return next;
}

function startOf(answer: IncomingMessage, path: string, from: number, size: number): number {
  const what = `file ${path}, which it lists`;
  if (from === 0) {
    refuseStatus(answer, what, [200]);
    return 0;
  }
  refuseStatus(answer, what, [200, 206]);
  if (answer.statusCode === 200) return 0;
  const [, first, last, all] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(answer.headers['content-range'] ?? '') ?? [];
  const isRight = Number(first) === from && Number(last) === size - 1 && (all === '*' || Number(all) === size);
  if (!isRight) throw hubLied(`sends another part of ${path} than was asked for`);
  return from;
}

/** The log-in page of a network, with a good status. */
function refuseWebPage({ headers }: IncomingMessage, path: string): void {
  if (/^text\/html\b/i.test(headers['content-type'] ?? '')) throw hubLied(`sends a web page in the place of ${path}`);
}

/** A wrong length shows before a byte is stored. */
function checkLength({ headers }: IncomingMessage, path: string, expected: number): void {
  const length = headers['content-length'];
  if (length !== undefined && Number(length) !== expected) {
    throw hubLied(`says that ${path} has another length than it lists`);
  }
}
