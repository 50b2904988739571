import { randomBytes } from 'node:crypto';
import { open, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sizeOf } from './private-files.js';
import { StorageFault } from './storage-fault.js';

const CHUNK_BYTES = 1_048_576;
/**
 * On a small file system the ballast is at most one part in so many. It has to be larger than the write-ahead log grows
 * before SQLite folds it in (1000 pages, 4 MB), or the log alone would use it up.
 */
const LARGEST_SHARE = 4;
/** A start writes an owner token, a few small files and what recovery decides. */
const ROOM_FOR_START_BYTES = 1_048_576;
/** It is put back when so many times its size is free, so that the next write does not take it away again. */
const ROOM_TO_RESTORE = 2;

/** `kept`: the file lies there. `given_up`: it has made room. `absent`: there has been no room for it since the start. */
export type BallastState = 'kept' | 'given_up' | 'absent' | 'off';

/**
 * A file that does nothing but take up room. The first write that finds the disk full makes the service give it up, so
 * that what is under way can be ended and what is expired deleted (HOUSE 4.8). While there is no room to put it back no
 * new work is taken, which would use that room up.
 */
export class Ballast {
  /** Hears of each change after the start. */
  onChange: (state: BallastState) => void = () => undefined;
  private current: BallastState;
  /** Changes come one after the other. */
  private last: Promise<void> = Promise.resolve();

  private constructor(
    private readonly file: string,
    private readonly bytes: number,
    lies: boolean,
  ) {
    this.current = bytes === 0 ? 'off' : lies ? 'kept' : 'absent';
  }

  /**
   * As a former process left it; given up at once on a disk that is full already, for what a start has to write.
   * @param bytes wanted size; 0 keeps none
   */
  static async find(file: string, bytes: number): Promise<Ballast> {
    const ballast = new Ballast(file, bytes, (await sizeOf(file)) > 0);
    const { free } = await ballast.measure();
    if (free < ROOM_FOR_START_BYTES) await ballast.giveUp();
    return ballast;
  }

  get state(): BallastState {
    return this.current;
  }

  /** Brings the file to its size at a start; having no room for it is no reason not to start. */
  lay(): Promise<void> {
    return this.inTurn(async () => {
      const { size } = await this.measure();
      if ((await sizeOf(this.file)) === size) return;
      await rm(this.file, { force: true });
      if (this.current !== 'off') this.current = (await this.write()) ? 'kept' : 'absent';
    });
  }

  /** A write has found the disk full. Resolves when the room is free. */
  giveUp(): Promise<void> {
    return this.inTurn(async () => {
      if (this.current !== 'kept') return;
      await rm(this.file, { force: true });
      this.enter('given_up');
    });
  }

  /** Puts the file back if it is missing and there is room. To be called now and then. */
  restore(): Promise<void> {
    return this.inTurn(async () => {
      if (this.isMissing && (await this.write())) this.enter('kept');
    });
  }

  /** Throws storage_full while the file is missing for want of room: what it has freed is for the work under way. */
  async requireRoom(): Promise<void> {
    if (!this.isMissing) return;
    const { free, size } = await this.measure();
    if (free < size * ROOM_TO_RESTORE) throw new StorageFault('full', null);
  }

  private get isMissing(): boolean {
    return this.current === 'given_up' || this.current === 'absent';
  }

  private enter(state: BallastState): void {
    this.current = state;
    this.onChange(state);
  }

  private async measure(): Promise<{ free: number; size: number }> {
    const { bavail, bsize, blocks } = await statfs(dirname(this.file));
    return { free: bavail * bsize, size: Math.min(this.bytes, Math.floor((blocks * bsize) / LARGEST_SHARE)) };
  }

  /** False where there is no room. Bytes that no file system can compress or leave out. */
  private async write(): Promise<boolean> {
    const { free, size } = await this.measure();
    if (free < size * ROOM_TO_RESTORE) return false;
    const chunk = randomBytes(Math.min(CHUNK_BYTES, size));
    try {
      const file = await open(this.file, 'w', 0o600);
      try {
        for (let left = size; left > 0; left -= chunk.length) await file.appendFile(chunk.subarray(0, left));
      } finally {
        await file.close();
      }
      return true;
    } catch {
      // A quota, or somebody else was quicker.
      await rm(this.file, { force: true });
      return false;
    }
  }

  private inTurn(change: () => Promise<void>): Promise<void> {
    const done = this.last.then(change);
    this.last = done.catch(() => undefined);
    return done;
  }
}
