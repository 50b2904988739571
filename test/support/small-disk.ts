import { spawn, spawnSync, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { cp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { temporaryDirectory } from './store.js';

const OWN_MOUNTS = ['--map-root-user', '--mount'];
const CHUNKS = [1_048_576, 65_536, 4096, 1];

/**
 * A file system of a few megabytes that a test can fill. It lives in a mount namespace of its own, held by a process
 * that ends with this one, so nothing is left mounted and no rights are needed; only Linux has that.
 */
export class SmallDisk {
  private constructor(
    private readonly holder: ChildProcessByStdio<Writable, Readable, null>,
    /** The folder as processes of `command` see it. */
    readonly inside: string,
  ) {}

  /** Whether this machine allows it. */
  static readonly available =
    spawnSync('unshare', [...OWN_MOUNTS, 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' }).status === 0;

  /** @param size as `mount` takes it: 20m */
  static async mount(size: string): Promise<SmallDisk> {
    const folder = await temporaryDirectory();
    const script = 'mount -t tmpfs -o "size=$0" tmpfs "$1"; echo mounted; exec cat';
    const holder = spawn('unshare', [...OWN_MOUNTS, 'sh', '-ec', script, size, folder], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    return new SmallDisk(holder, folder);
  }

  /** The same folder as this process sees it. */
  get outside(): string {
    return `/proc/${this.holder.pid}/root${this.inside}`;
  }

  /** The command that runs another one where the file system is mounted; its process keeps its id. */
  command(...command: string[]): [string, ...string[]] {
    const target = ['--target', String(this.holder.pid), '--user', '--mount', '--preserve-credentials'];
    return ['nsenter', ...target, ...command];
  }

  /** Takes every free byte. */
  async fill(): Promise<void> {
    const file = await open(join(this.outside, 'filler'), 'a');
    try {
      for (const size of CHUNKS) while (await fits(() => file.appendFile(Buffer.alloc(size)))) continue;
    } finally {
      await file.close();
    }
  }

  /** Gives back what `fill` took. */
  empty(): Promise<void> {
    return rm(join(this.outside, 'filler'));
  }

  /**
   * Copies everything to an ordinary folder and answers with its path. SQLite needs that: it resolves the way through
   * `/proc` to a path that means something else here.
   */
  async copy(): Promise<string> {
    const folder = await temporaryDirectory();
    await cp(this.outside, folder, { recursive: true });
    return folder;
  }

  async unmount(): Promise<void> {
    this.holder.kill('SIGKILL');
    await once(this.holder, 'exit');
  }
}

async function fits(write: () => Promise<void>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    return false;
  }
}
