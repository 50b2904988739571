import { open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import sqlite3 from 'sqlite3';
import { serviceVersion } from '../config/index.js';
import { copyRefused, StoreUnusable } from './database.errors.js';
import { PlainConnection } from './plain-connection.js';
import { ensurePrivateDirectory, ensurePrivateFile } from './private-files.js';
import { quickCheck, type AppliedMigrations } from './store-file.js';

/** The newest so many are kept; a step back further than that is a job for the ordinary backups. */
const KEPT_COPIES = 3;

const COPY_NAME = /^pre-.+\.db$/;

/**
 * Copies a store that is about to be migrated to `backups/pre-<version>-from-<schema>.db` (OPERATE 5.5) and resolves
 * with the copy's path. One name for each schema: a start that was cut in the middle of its migrations leaves the copy
 * of the whole store alone. Rejects, with nothing changed, where there is no room or the copy is not sound.
 */
export async function copyBeforeUpgrade(file: string, applied: AppliedMigrations): Promise<string> {
  const folder = join(dirname(file), 'backups');
  const copy = join(folder, `pre-${serviceVersion()}-from-${schemaOf(applied)}.db`);
  const partial = `${copy}.partial`;
  try {
    await ensurePrivateDirectory(folder);
    await rm(partial, { force: true });
    await writeCopy(file, partial);
    await rename(partial, copy);
    await sync(folder);
    await removeOldCopies(folder, copy);
    return copy;
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    if (error instanceof StoreUnusable) throw error;
    throw copyRefused(file, error);
  }
}

/** `VACUUM INTO` on a connection that only reads: consistent, compact, and it never starts anew (OPERATE 5.6). */
async function writeCopy(file: string, target: string): Promise<void> {
  const source = await PlainConnection.open(file, sqlite3.OPEN_READONLY);
  try {
    await requireRoom(source, dirname(target));
    // Made before SQLite does, with prompts and token hashes in it soon: readable by its owner only.
    await ensurePrivateFile(target);
    await source.rows('VACUUM INTO ?', [target]);
  } finally {
    await source.close();
  }
  await sync(target);
  await quickCheck(target);
}

async function requireRoom(source: PlainConnection, folder: string): Promise<void> {
  const [size] = await source.rows<{ bytes: number }>(
    'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
  );
  const { bavail, bsize } = await statfs(folder);
  const needed = size?.bytes ?? 0;
  const free = bavail * bsize;
  if (free < needed) throw new Error(`${folder} needs ${needed} bytes and has ${free}; free some space`);
}

/** The timestamp at the end of the last migration's name, and how many migrations of extensions there are beside. */
function schemaOf({ service, extensions }: AppliedMigrations): string {
  const last = /\d+$/.exec(service.at(-1) ?? '')?.[0] ?? '0';
  return extensions.length === 0 ? last : `${last}-and-${extensions.length}`;
}

async function removeOldCopies(folder: string, newest: string): Promise<void> {
  const others = (await readdir(folder)).filter((name) => COPY_NAME.test(name) && name !== basename(newest));
  const dated = await Promise.all(
    others.map(async (name) => ({ path: join(folder, name), time: (await stat(join(folder, name))).mtimeMs })),
  );
  dated.sort((a, b) => b.time - a.time);
  for (const { path } of dated.slice(KEPT_COPIES - 1)) await rm(path, { force: true });
}

/** Makes a file's bytes, or a folder's names, outlive a power loss. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
