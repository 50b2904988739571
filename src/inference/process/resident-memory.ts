import { readFile } from 'node:fs/promises';

/** Resident memory of a process in bytes; null where the system does not tell, or the process is gone. */
export async function residentBytesOf(pid: number | undefined): Promise<number | null> {
  if (pid === undefined) return null;
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? null : Number(kibibytes) * 1024;
}
