import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ListedFile } from './model-source.js';

/** What a pull's folder says of itself, for whoever finds it. */
export interface PullManifest {
  hub: string;
  repository: string;
  commit: string;
  dtype: string | null;
  /** Absent until they are. */
  chosen?: ChosenFiles;
}

/** The files that make up the model. */
export interface ChosenFiles {
  graphFile: string;
  files: ListedFile[];
}

const MANIFEST = 'pull.json';

/** Folder of the pulls that are not done, below the data directory. */
export const pullsFolder = (dataDir: string): string => join(dataDir, 'pulls');

/**
 * Where a pull keeps its files. A file has its own name only once it was checked, and the model's folder has its place
 * below `models/` only once all of its files are there; until then both lie in a folder that hub, repository, commit and
 * dtype name, so that whoever asks for the same goes on with it.
 */
export class PullFolder {
  readonly work: string;
  /** Where the model's folder ends up. */
  readonly published: string;

  constructor(
    dataDir: string,
    private readonly about: PullManifest,
  ) {
    const { hub, repository, commit, dtype } = about;
    const name = createHash('sha256')
      .update(JSON.stringify([hub, repository, commit, dtype]))
      .digest('hex');
    this.work = join(pullsFolder(dataDir), name.slice(0, 32));
    this.published = join(publishedFolder(dataDir, hub, repository), dtype === null ? commit : `${commit}-${dtype}`);
  }

  get files(): string {
    return join(this.work, 'files');
  }

  /** A file that was checked. */
  file(path: string): string {
    return join(this.files, ...path.split('/'));
  }

  /** A file that is being fetched. */
  part(path: string): string {
    return join(this.work, 'parts', createHash('sha256').update(path).digest('hex').slice(0, 32));
  }

  isPublished(): Promise<boolean> {
    return stat(this.published).then(
      (found) => found.isDirectory(),
      () => false,
    );
  }

  /** Makes the folder, or finds it as an earlier attempt left it. */
  async prepare(): Promise<void> {
    for (const folder of ['files', 'parts']) await mkdir(join(this.work, folder), { recursive: true, mode: 0o700 });
    if ((await readManifest(this.work)) === null) await this.note(this.about);
  }

  /** The files that an earlier attempt has chosen, or null. */
  async chosen(): Promise<ChosenFiles | null> {
    const manifest = await readManifest(this.work);
    return manifest?.chosen ?? null;
  }

  async choose(chosen: ChosenFiles): Promise<void> {
    await this.note({ ...this.about, chosen });
  }

  /** So much of the files is there already. */
  async bytesOf(files: readonly ListedFile[]): Promise<number> {
    let bytes = 0;
    for (const { path, sizeBytes } of files) {
      const have = Math.max(await sizeOf(this.file(path)), await sizeOf(this.part(path)));
      bytes += Math.max(0, Math.min(have, sizeBytes));
    }
    return bytes;
  }

  /** The part has turned out to be the whole file. */
  async accept(path: string): Promise<void> {
    const target = this.file(path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await rename(this.part(path), target);
    await syncFolder(dirname(target));
  }

  /** All files are there: they become the model's folder in one step. */
  async publish(): Promise<void> {
    const parent = dirname(this.published);
    await mkdir(parent, { recursive: true, mode: 0o700 });
    await rename(this.files, this.published);
    await syncFolder(parent);
    await this.remove();
  }

  private note(manifest: PullManifest): Promise<void> {
    return writeWhole(join(this.work, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
  }

  async remove(): Promise<void> {
    await rm(this.work, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Where the models of a repository are published: a name that reads well and cannot lead elsewhere. */
export function publishedFolder(dataDir: string, hub: string, repository: string): string {
  const place = hub.replace(/^https?:\/\//, '').replace(/[^A-Za-z0-9.-]+/g, '_');
  return join(dataDir, 'models', place, repository.replace('/', '--'));
}

/** Null where there is none that can be read. */
export async function readManifest(folder: string): Promise<PullManifest | null> {
  try {
    return JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')) as PullManifest;
  } catch {
    return null;
  }
}

/** Bytes of a file; -1 where there is none. */
export async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => -1,
  );
}

async function writeWhole(path: string, text: string): Promise<void> {
  const unfinished = `${path}.unfinished`;
  const file = await open(unfinished, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
}

/** Names outlive a loss of power only once their folder is on disk; not every system can do that. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => null);
  if (folder === null) return;
  await folder.sync().catch(() => undefined);
  await folder.close();
}
