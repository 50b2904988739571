import { snapshotOf } from '../../../src/testing/response-invariants.js';
import type { StoreImage, StoredTask } from '../../support/store-image.js';
import type { Observations } from './observations.js';

/** What a run came to, in numbers. */
export class Figures {
  kills = 0;
  stores = 0;
  /** Starts that became ready. */
  restarts = 0;
  /** Kills at the very moment their plan named, by that moment. */
  readonly points: Record<string, number> = {};
  tasks = 0;
  readonly ends: Record<string, number> = {};
  events = 0;
  observed = 0;
  lostAnswers = 0;
  answeredAgain = 0;
  /** Times a restart left a task running, to be taken up. */
  resumed = 0;
  /** Times it was put back to wait. */
  requeued = 0;
  replayedTokens = 0;

  /** Counts a store in whose tasks have all ended. */
  add(image: StoreImage, observations: Observations): void {
    this.stores += 1;
    this.observed += observations.received;
    for (const { tries } of observations.creates.values()) {
      this.lostAnswers += tries.filter(({ status }) => status === null).length;
      this.answeredAgain += tries.filter(({ replayed }) => replayed).length;
    }
    for (const stored of image.tasks.values()) this.addTask(stored);
  }

  private addTask({ task, events }: StoredTask): void {
    this.tasks += 1;
    this.events += events.length;
    const last = snapshotOf(events.at(-1)?.payload ?? '{}');
    const end = task.status === 'failed' ? `failed:${task.error?.code}` : (last?.status ?? task.status);
    this.ends[end] = (this.ends[end] ?? 0) + 1;
    this.replayedTokens += last?.lmsp.replayed_tokens ?? 0;
    let status = '';
    for (const event of events) {
      if (event.type !== 'response.in_progress' && event.type !== 'response.queued') continue;
      const next = snapshotOf(event.payload).lmsp.task_status;
      if (status === 'running' && next === 'running') this.resumed += 1;
      if (status !== '' && next === 'queued') this.requeued += 1;
      status = next;
    }
  }
}
