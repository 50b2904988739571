import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { StoreReader } from '../database/index.js';
import { Notices } from '../notices/index.js';
import { TaskQueries } from '../tasks/index.js';
import { pullsFolder, readManifest } from './pull-folder.js';
import { inputOf, PULL_TASK_TYPE } from './pull-input.js';

/**
 * Removes what pulls have left that nobody goes on with, `retentionPullsSeconds` after the last byte came. It follows each
 * run of retention, and like it does nothing while the clock may be wrong.
 */
@Injectable()
export class PullLeftovers implements OnModuleInit {
  constructor(
    private readonly notices: Notices,
    private readonly queries: TaskQueries,
    private readonly reader: StoreReader,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.notices.on('retention.finished', ({ held, interrupted }) => {
      if (!held && !interrupted) void this.sweep(Date.now());
    });
  }

  /** Never rejects. */
  async sweep(now: number): Promise<void> {
    const { dataDir, retentionPullsSeconds } = this.config;
    if (retentionPullsSeconds === 0) return;
    try {
      const wanted = await this.wanted();
      for (const name of await readdir(pullsFolder(dataDir)).catch(() => [])) {
        const folder = join(pullsFolder(dataDir), name);
        const repository = (await readManifest(folder))?.repository;
        if (repository !== undefined && wanted.has(repository)) continue;
        if ((await lastChange(folder)) > now - retentionPullsSeconds * 1000) continue;
        await rm(folder, { recursive: true, force: true });
        this.notices.emit('pull.leftovers_removed', { folder: name });
      }
    } catch (error) {
      this.notices.emit('pull.leftovers_failed', { error });
    }
  }

  /** Repositories that unfinished pulls name. */
  private async wanted(): Promise<Set<string>> {
    const tasks = await this.queries.unfinished(this.reader, PULL_TASK_TYPE);
    return new Set(tasks.map((task) => inputOf(task).repository));
  }
}

/** When a byte or a name last came into the folder, epoch milliseconds. */
async function lastChange(folder: string): Promise<number> {
  const parts = await readdir(join(folder, 'parts')).catch(() => []);
  const paths = [folder, join(folder, 'parts'), ...parts.map((part) => join(folder, 'parts', part))];
  const times = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return Math.max(...times);
}
