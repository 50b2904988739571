import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Pids of the model processes that a service has noted in its data directory. */
export async function runnersOf(dataDir: string): Promise<number[]> {
  const names = await readdir(join(dataDir, 'runners')).catch(() => []);
  return names.map((name) => Number(name.replace('.json', ''))).filter((pid) => Number.isInteger(pid));
}

/**
 * Those of them that run now, told by what they run: a note may be left of a process that has ended, and a pid may be
 * another's since. Only these may be sent a signal.
 */
export async function liveRunnersOf(dataDir: string): Promise<number[]> {
  const live: number[] = [];
  for (const pid of await runnersOf(dataDir)) if (await isRunner(pid)) live.push(pid);
  return live;
}

/** A zombie, which has ended and only was not asked for its exit code, has no command. Without /proc nothing is one. */
export async function isRunner(pid: number): Promise<boolean> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes('runner-main');
}

/** Halts the model processes: what they work on stays as it is. */
export async function haltRunners(dataDir: string): Promise<number[]> {
  const pids = await liveRunnersOf(dataDir);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  return pids;
}
