import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How programs on this machine find the running service. A hint, never a lock: after a crash a stale one is left. */
export interface ServiceFile {
  url: string;
  pid: number;
  /** Names this run of the service; a new one at each start. */
  instance_id: string;
  version: string;
  /** Unix seconds. */
  started_at: number;
}

/** Writes `service.json` into the data directory, whole or not at all, readable by its owner only. */
export async function writeServiceFile(dataDir: string, content: ServiceFile): Promise<void> {
  const path = serviceFilePath(dataDir);
  const unfinished = `${path}.${content.pid}`;
  await rm(unfinished, { force: true });
  await writeFile(unfinished, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(unfinished, path);
}

/** The last act of a clean stop. */
export async function removeServiceFile(dataDir: string): Promise<void> {
  await rm(serviceFilePath(dataDir), { force: true });
}

function serviceFilePath(dataDir: string): string {
  return join(dataDir, 'service.json');
}
