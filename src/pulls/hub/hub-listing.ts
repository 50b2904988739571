import type { ListedFile } from '../model-source.js';
import { hubLied } from './hub-errors.js';
import { pathFault } from './listed-path.js';

interface ListedEntry {
  type?: unknown;
  path?: unknown;
  size?: unknown;
  oid?: unknown;
  lfs?: { oid?: unknown; size?: unknown } | null;
}

/** The files of one page of a listing. Throws hub_answer_invalid, before anything is made of it, for what cannot be. */
export function parsePage(json: string): ListedFile[] {
  const entries = parsed(json);
  if (!Array.isArray(entries)) throw hubLied('lists its files in no form that is known');
  return entries.flatMap((entry: ListedEntry | null) => (entry?.type === 'directory' ? [] : [parseFile(entry)]));
}

/** Two names that a file system may take for one would overwrite each other. */
export function refuseDuplicates(files: readonly ListedFile[]): void {
  const seen = new Set<string>();
  for (const { path } of files) {
    const folded = path.normalize('NFC').toLowerCase();
    if (seen.has(folded)) throw hubLied(`lists ${JSON.stringify(path)} twice`);
    seen.add(folded);
  }
}

/** The commit that a revision is now. */
export function parseCommit(json: string): unknown {
  const answer = parsed(json);
  return typeof answer === 'object' && answer !== null ? (answer as { sha?: unknown }).sha : undefined;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw hubLied('answers with something that is no JSON');
  }
}

function parseFile(entry: ListedEntry | null): ListedFile {
  if (entry?.type !== 'file') throw hubLied('lists something that is neither file nor folder');
  const fault = pathFault(entry.path);
  if (fault !== null) throw hubLied(`lists ${fault}`);
  const path = entry.path as string;
  const { lfs } = entry;
  const size = entry.size;
  const isSize = typeof size === 'number' && Number.isSafeInteger(size) && size >= 0;
  if (!isSize || (lfs?.size !== undefined && lfs.size !== size)) throw hubLied(`lists ${path} without its size`);
  const [algorithm, hex, form] = lfs
    ? (['sha256', lfs.oid, /^[0-9a-f]{64}$/] as const)
    : (['git-sha1', entry.oid, /^[0-9a-f]{40}$/] as const);
  if (typeof hex !== 'string' || !form.test(hex)) throw hubLied(`lists ${path} without its digest`);
  return { path, sizeBytes: size, digest: { algorithm, hex } };
}

const DIGESTS = { sha256: /^[0-9a-f]{64}$/, 'git-sha1': /^[0-9a-f]{40}$/ } as const;

/** What any source lists, whoever wrote it: throws hub_answer_invalid for what cannot become a folder of checked files. */
export function checkListing(files: readonly ListedFile[], maxFiles: number): void {
  if (files.length > maxFiles) throw hubLied(`lists more than ${maxFiles} files`);
  for (const { path, sizeBytes, digest } of files) {
    const fault = pathFault(path);
    if (fault !== null) throw hubLied(`lists ${fault}`);
    if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) throw hubLied(`lists ${path} without its size`);
    if (!DIGESTS[digest.algorithm]?.test(digest.hex)) throw hubLied(`lists ${path} without its digest`);
  }
  refuseDuplicates(files);
}
