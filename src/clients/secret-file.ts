import { open, rename, rm } from 'node:fs/promises';

/** Writes a file that only the owner of the process may read: whole or not at all, and on disk when this resolves. */
export async function writeSecretFile(path: string, text: string): Promise<void> {
  const unfinished = `${path}.unfinished`;
  await rm(unfinished, { force: true });
  const file = await open(unfinished, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
}
