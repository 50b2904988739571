import { mkdir, open, stat } from 'node:fs/promises';

/** The folder with prompts, answers and token hashes: its owner only. An existing folder keeps its mode. */
export async function ensurePrivateDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
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
