import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Pids of the model processes that a service has noted in its data directory. */
export async function runnersOf(dataDir: string): Promise<number[]> {
  const names = await readdir(join(dataDir, 'runners')).catch(() => []);
  return names.map((name) => Number(name.replace('.json', ''))).filter((pid) => Number.isInteger(pid));
}

/** Halts the model processes: what they work on stays as it is. */
export async function haltRunners(dataDir: string): Promise<number[]> {
  const pids = await runnersOf(dataDir);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  return pids;
}
