import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { TaskRunner, TaskUnits, type AcceptedTask } from '../tasks/index.js';
import { requireRoom } from './disk-room.js';
import { publishedFolder } from './pull-folder.js';
import { PullRequests, type PullRequest } from './pull-requests.js';
import { PullTools } from './pull-tools.js';

/** Who may join the pulls. The hub is not asked: that is the task's work, so that an answer never waits for it. */
@Injectable()
export class PullAcceptance {
  constructor(
    private readonly units: TaskUnits,
    private readonly requests: PullRequests,
    private readonly runner: TaskRunner,
    private readonly tools: PullTools,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Resolves once the task is on disk. Throws model_exists, pull_in_progress, queue_full, storage_full. */
  async accept(request: PullRequest): Promise<AcceptedTask> {
    const { dataDir, diskFloorBytes } = this.config;
    const { id, repository } = request.input;
    await this.tools.adoption.requireFree(id, publishedFolder(dataDir, this.tools.source().name, repository));
    await this.units.requireRoom();
    await requireRoom(dataDir, 0, diskFloorBytes);
    const accepted = await this.units.run((tx) => this.requests.accept(tx, request));
    if (!accepted.repeated) this.runner.joined(accepted.task.type, null);
    return accepted;
  }
}
