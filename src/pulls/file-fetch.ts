import { open, rm, type FileHandle } from 'node:fs/promises';
import { DomainError } from '../errors/index.js';
import type { Bandwidth } from './bandwidth.js';
import { asNoRoom, requireRoom } from './disk-room.js';
import type { FileThreads } from './file-threads.js';
import { hubLied } from './hub/hub-errors.js';
import { SourceInterrupted, type ListedFile, type ModelSource } from './model-source.js';
import type { Pauses } from './pauses.js';
import { sizeOf, type PullFolder } from './pull-folder.js';

export interface FetchOptions {
  bandwidth: Bandwidth;
  threads: FileThreads;
  /** Between tries of a file, each time anew. */
  pauses: () => Pauses;
  /** Room that is left to others. */
  floorBytes: number;
  /** Bytes that came over the network, whether they could be used or not. */
  received: (bytes: number) => void;
}

/** Hears how much of a file is there. */
export type FileProgress = (have: number) => Promise<void>;

/** So much more counts as progress: a hub that gives a byte at a time is not worth waiting for. */
const PROGRESS_BYTES = 1 << 20;
const ROOM_CHECK_BYTES = 64 << 20;

/**
 * Fetches the files of one commit. What is there is kept through cut connections, cancels and kills: the next try asks
 * for the rest only, and whatever the hub said, the digest of the whole decides.
 */
export class FileFetch {
  constructor(
    private readonly source: ModelSource,
    private readonly repository: string,
    private readonly commit: string,
    private readonly folder: PullFolder,
    private readonly options: FetchOptions,
  ) {}

  /**
   * Resolves when the file has its name. A content with the wrong digest is fetched once more, in case the part on disk
   * was damaged; then throws model_digest_mismatch. Throws hub_unavailable, hub_answer_invalid, storage_full.
   */
  async fetch(file: ListedFile, signal: AbortSignal, progress: FileProgress): Promise<void> {
    if ((await sizeOf(this.folder.file(file.path))) === file.sizeBytes) return progress(file.sizeBytes);
    for (let again = 0; ; again++) {
      await this.complete(file, signal, progress);
      if (await this.isRight(file, signal)) break;
      await rm(this.folder.part(file.path), { force: true });
      if (again > 0) throw wrongDigest(file.path);
    }
    await this.folder.accept(file.path);
    await progress(file.sizeBytes);
  }

  private async isRight({ path, digest }: ListedFile, signal: AbortSignal): Promise<boolean> {
    return (await this.options.threads.digest(this.folder.part(path), digest.algorithm, signal)) === digest.hex;
  }

  /** Until the part is as long as the file. */
  private async complete(file: ListedFile, signal: AbortSignal, progress: FileProgress): Promise<void> {
    const part = this.folder.part(file.path);
    if ((await sizeOf(part)) > file.sizeBytes) await rm(part);
    const pauses = this.options.pauses();
    for (;;) {
      const handle = await open(part, 'a', 0o600).catch((error: unknown) => Promise.reject(asNoRoom(error) as Error));
      const before = (await handle.stat()).size;
      try {
        if (before < file.sizeBytes) await this.receive(file, before, handle, signal, progress);
        await handle.sync();
        return;
      } catch (error) {
        const { size } = await handle.stat();
        if (!(error instanceof SourceInterrupted)) throw asNoRoom(error);
        const isProgress = size === file.sizeBytes || size - before >= PROGRESS_BYTES;
        await pauses.wait(error, isProgress, signal);
      } finally {
        await handle.close();
      }
    }
  }

  private async receive(
    file: ListedFile,
    have: number,
    part: FileHandle,
    signal: AbortSignal,
    progress: FileProgress,
  ): Promise<void> {
    const { bandwidth, floorBytes, received } = this.options;
    const { from, pieces } = await this.source.open(this.repository, this.commit, file, have, signal);
    let at = from;
    let checked = have;
    await progress(have);
    for await (const piece of pieces) {
      received(piece.length);
      await bandwidth.take(piece.length, signal);
      // A hub that does not know ranges begins anew: what is there already is passed over.
      const fresh = piece.subarray(Math.max(0, Math.min(piece.length, have - at)));
      at += piece.length;
      if (at > file.sizeBytes) throw hubLied(`sends more of ${file.path} than it lists`);
      if (fresh.length > 0) await part.appendFile(fresh);
      if (at - checked >= ROOM_CHECK_BYTES) {
        await requireRoom(this.folder.work, 0, floorBytes);
        checked = at;
      }
      await progress(Math.max(at, have));
    }
    if (at === file.sizeBytes) return;
    // It ended of itself: what came is something else than the file.
    await part.truncate(have);
    throw hubLied(`sends less of ${file.path} than it lists`);
  }
}

function wrongDigest(path: string): DomainError {
  return new DomainError(
    'model_digest_mismatch',
    `${path} was fetched twice and is not what the hub lists: its digest differs. Check LMSP_HUB_URL and what lies between.`,
  );
}
