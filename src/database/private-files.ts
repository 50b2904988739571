import { mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The folder with prompts, answers and token hashes: its owner only. An existing folder keeps its mode. */
export async function ensurePrivateDirectory(path: string): Promise<void> {
  const missing: string[] = [];
  for (let at = path; !(await isDirectory(at)); at = dirname(at)) missing.unshift(at);
  // Not `recursive`: below /proc Node goes round for ever.
  for (const folder of missing) await makeDirectory(folder);
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory() || dirname(path) === path,
    () => dirname(path) === path,
  );
}

/** Somebody else may be quicker. */
async function makeDirectory(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch(async (error: unknown) => {
    if (!(await isDirectory(path))) throw error;
  });
}

/** Creates the file empty and readable by its owner only; SQLite gives `-wal` and `-shm` the mode of their database. */
export async function ensurePrivateFile(path: string): Promise<void> {
  const file = await open(path, 'a', 0o600);
  await file.close();
}

/** Bytes of a file; 0 where there is none. */
export async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}
