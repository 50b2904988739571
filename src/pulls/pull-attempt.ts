import { DomainError } from '../errors/index.js';
import type { ExaminedModel } from '../models/index.js';
import type { JsonObject, TaskRun } from '../tasks/index.js';
import { chooseFiles, weightFiles } from './chosen-files.js';
import { requireRoom } from './disk-room.js';
import { FileFetch } from './file-fetch.js';
import { hubLied } from './hub/hub-errors.js';
import { checkListing } from './hub/hub-listing.js';
import { isCommit } from './hub/repository-name.js';
import type { ListedFile, ModelSource } from './model-source.js';
import { Pauses } from './pauses.js';
import { PullFolder, type ChosenFiles } from './pull-folder.js';
import { inputOf, type PullInput } from './pull-input.js';
import { PullProgress } from './pull-progress.js';
import type { PullTools } from './pull-tools.js';

/** What a pull has come to: a folder that can become a model. */
export interface PulledModel {
  examined: ExaminedModel;
  result: JsonObject;
}

/** One attempt at a pull: commit, listing, files, examination, place. Each step finds what an earlier one has left of it. */
export class PullAttempt {
  private readonly input: PullInput;
  private readonly source: ModelSource;
  private readonly progress: PullProgress;

  constructor(
    private readonly run: TaskRun,
    private readonly tools: PullTools,
  ) {
    this.input = inputOf(run.task);
    this.source = tools.source();
    this.progress = new PullProgress(run);
  }

  private get signal(): AbortSignal {
    return this.run.signal;
  }

  /** @param pinned the commit that an earlier attempt has found for the revision, or null */
  async model(pinned: string | null): Promise<PulledModel> {
    const { adoption, config } = this.tools;
    const { repository, revision, id, dtype } = this.input;
    const commit = pinned ?? (await this.pin());
    const folder = new PullFolder(config.dataDir, { hub: this.source.name, repository, commit, dtype });
    await adoption.requireFree(id, folder.published);
    const isPublished = await folder.isPublished();
    if (!isPublished) await this.fetchAll(folder, commit);
    this.progress.phase('checking');
    const directory = isPublished ? folder.published : folder.files;
    const examined = await adoption.examine({ id, directory, target: folder.published, dtype }, this.signal);
    if (!isPublished) await folder.publish();
    const { digest, sizeBytes } = examined.inspection;
    return { examined, result: { model: id, repository, revision, commit, digest, size_bytes: sizeBytes } };
  }

  /** From now on the pull is of this commit, whatever becomes of the revision. */
  private async pin(): Promise<string> {
    this.progress.phase('resolving');
    const { repository, revision } = this.input;
    const commit = await this.patiently(() => this.source.commitOf(repository, revision, this.signal));
    if (!isCommit(commit)) throw hubLied(`names no commit for ${revision}`);
    const resolved = { type: 'model.pull.resolved', payload: { repository, revision, commit } };
    await this.run.append({ events: [resolved], snapshot: JSON.stringify({ commit }) });
    return commit;
  }

  private async fetchAll(folder: PullFolder, commit: string): Promise<void> {
    const fetch = this.fetcher(folder, commit);
    const chosen = (await folder.chosen()) ?? (await this.choose(folder, commit, fetch));
    await this.fetchFiles(folder, fetch, chosen.files);
    const whole = await this.withWeights(folder, commit, chosen);
    if (whole.files.length > chosen.files.length) await this.fetchFiles(folder, fetch, whole.files);
  }

  /** The listing is read, judged and kept before anything of it is made. */
  private async choose(folder: PullFolder, commit: string, fetch: FileFetch): Promise<ChosenFiles> {
    this.progress.phase('listing');
    const chosen = await chooseFiles(await this.list(commit), this.input.dtype, async (file) => {
      await folder.prepare();
      await fetch.fetch(file, this.signal, this.progress.of(file));
      return folder.file(file.path);
    });
    await folder.prepare();
    await folder.choose(chosen);
    return chosen;
  }

  /** Weights that lie outside of the graph have the names that it says; most are those that were chosen. */
  private async withWeights(folder: PullFolder, commit: string, chosen: ChosenFiles): Promise<ChosenFiles> {
    const { graphFile, files } = chosen;
    const locations = (await this.tools.threads.weightsOf(folder.file(graphFile), this.signal)) ?? [];
    const named = weightFiles(graphFile, locations, files);
    if (named !== null) return chosen;
    const all = weightFiles(graphFile, locations, await this.list(commit)) ?? [];
    const more = all.filter(({ path }) => !files.some((file) => file.path === path));
    const whole = { graphFile, files: [...files, ...more] };
    await folder.choose(whole);
    return whole;
  }

  private async fetchFiles(folder: PullFolder, fetch: FileFetch, files: readonly ListedFile[]): Promise<void> {
    const { config } = this.tools;
    const total = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (total > config.pullMaxBytes) throw tooLarge(total, config.pullMaxBytes);
    await requireRoom(folder.work, total - (await folder.bytesOf(files)), config.diskFloorBytes);
    this.progress.expect(files);
    for (const file of files) await fetch.fetch(file, this.signal, this.progress.of(file));
  }

  private fetcher(folder: PullFolder, commit: string): FileFetch {
    const { bandwidth, threads, config, notices } = this.tools;
    return new FileFetch(this.source, this.input.repository, commit, folder, {
      bandwidth,
      threads,
      pauses: () => this.pauses(),
      floorBytes: config.diskFloorBytes,
      received: (bytes) => notices.emit('pull.received', { bytes }),
    });
  }

  private async list(commit: string): Promise<ListedFile[]> {
    const files = await this.patiently(() => this.source.list(this.input.repository, commit, this.signal));
    checkListing(files, this.tools.config.pullMaxFiles);
    return files;
  }

  private patiently<T>(ask: () => Promise<T>): Promise<T> {
    return this.pauses().until(ask, this.signal);
  }

  private pauses(): Pauses {
    const { config, notices, firstPauseMs } = this.tools;
    const told = (reason: string): void => notices.emit('pull.interrupted', { task_id: this.run.task.id, reason });
    return new Pauses({ tries: config.pullTries, firstMs: firstPauseMs, told });
  }
}

function tooLarge(bytes: number, limit: number): DomainError {
  return new DomainError(
    'pull_too_large',
    `The files of the model have ${bytes} bytes; LMSP_PULL_MAX_BYTES allows ${limit}. Another dtype may be smaller.`,
    { param: 'dtype' },
  );
}
