import { statfs } from 'node:fs/promises';
import { DomainError } from '../errors/index.js';

const FULL_CODES = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** Throws storage_full unless so many bytes fit and `floorBytes` are left behind. */
export async function requireRoom(folder: string, bytes: number, floorBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free - bytes < floorBytes) throw noRoom(`${bytes} bytes are needed, ${free} are free`);
}

export function noRoom(reason: string): DomainError {
  return new DomainError(
    'storage_full',
    `The disk of the data directory has no room for the model: ${reason}. Free some space and send the pull again; what ` +
      'was fetched is kept.',
    { retryAfterSeconds: 30 },
  );
}

/** A write that found no room, in the words of a refusal; anything else as it is. */
export function asNoRoom(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  return code !== undefined && FULL_CODES.includes(code) ? noRoom(code) : error;
}
