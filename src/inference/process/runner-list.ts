import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Runner processes are noted in a folder, one file each, so that the next start can end what a crash left behind. */
const FILE_NAME = /^(\d+)\.json$/;
const END_WAIT_MS = 5_000;
const END_POLL_MS = 20;

/** Notes a running process. Returns how to take the note away. */
export async function noteRunner(directory: string, pid: number): Promise<() => Promise<void>> {
  const file = join(directory, `${pid}.json`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  try {
    await writeFile(file, JSON.stringify({ pid, birth: await birthOf(pid) }), { mode: 0o600 });
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
  return () => rm(file, { force: true });
}

/**
 * Ends the runners a former service left behind and clears the list; resolves with how many were ended. A pid may have
 * been given to another process since: only one with the same time of birth is touched. Where that cannot be known
 * (no /proc) nothing is killed: runners end by themselves with their channel.
 */
export async function endLeftoverRunners(directory: string): Promise<number> {
  let ended = 0;
  for (const name of await readdir(directory).catch(() => [])) {
    const pid = Number(FILE_NAME.exec(name)?.[1]);
    if (!Number.isInteger(pid)) continue;
    const birth = await notedBirth(join(directory, name));
    if (birth !== null && (await birthOf(pid)) === birth) {
      await endProcess(pid, birth);
      ended++;
    }
    await rm(join(directory, name), { force: true });
  }
  return ended;
}

async function notedBirth(file: string): Promise<string | null> {
  try {
    return (JSON.parse(await readFile(file, 'utf8')) as { birth: string | null }).birth;
  } catch {
    return null;
  }
}

/** Its memory must be free before the first load, so this waits for the end. */
async function endProcess(pid: number, birth: string): Promise<void> {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    return;
  }
  for (let waited = 0; waited < END_WAIT_MS && (await birthOf(pid)) === birth; waited += END_POLL_MS) {
    await delay(END_POLL_MS);
  }
}

/** Boot and clock tick a process began at: with the pid unique for all time. Null when unknown, or when it is a zombie. */
async function birthOf(pid: number): Promise<string | null> {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The second field, the name in brackets, may itself hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : `${boot.trim()} ${fields[19]}`;
  } catch {
    return null;
  }
}
