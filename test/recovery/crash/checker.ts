import { createHash } from 'node:crypto';
import { isTerminal } from '../../../src/tasks/task-transitions.js';
import type { Fault } from '../../support/fault.js';
import { storedFaults } from '../../support/stored-logs.js';
import type { StoreImage, StoredTask } from '../../support/store-image.js';
import { jobOfLabel } from './jobs.js';
import type { Observations } from './observations.js';
import { createFaults, observedFaults } from './rules/observation-rules.js';
import { endFaults } from './rules/end-rules.js';
import { referenceFaults } from './rules/reference-rules.js';
import { restartViolations } from './rules/restart-rules.js';
import { about, type Violation } from './rules/violation.js';
import type { References } from './reference.js';

/** What is known of a start of the service between two images. */
export interface Life {
  recovered: boolean;
  paused: boolean;
}

/**
 * Holds every image of one store against itself, against the one before, against what clients saw and against the
 * reference answers. A task that has ended in one image is not read again until the last: then it must be the same.
 */
export class Checker {
  /** Ended tasks, with a digest of all that lay on disk then. */
  private readonly settled = new Map<string, string>();
  private before: StoreImage = { tasks: new Map(), faults: [] };

  constructor(
    private readonly references: References,
    private readonly observations: Observations,
  ) {}

  /** Tasks that the next image may leave out. */
  get known(): ReadonlySet<string> {
    return new Set(this.settled.keys());
  }

  /** Tasks that had not ended in the last image. */
  get unfinished(): StoredTask[] {
    return [...this.before.tasks.values()].filter(({ task }) => !isTerminal(task.status));
  }

  afterKill(image: StoreImage, life: Life): Violation[] {
    const violations = [
      ...about('store', image.faults),
      ...this.lost(image),
      ...restartViolations({ before: this.before, after: image, ...life }),
      ...[...image.tasks.values()].flatMap((stored) => about(stored.task.id, this.taskFaults(stored))),
    ];
    for (const stored of image.tasks.values()) {
      if (isTerminal(stored.task.status)) this.settled.set(stored.task.id, digestOf(stored));
    }
    this.before = image;
    return violations;
  }

  /** `image` holds the whole store, and everything in it has had the time to end. */
  atEnd(image: StoreImage, life: Life): Violation[] {
    const violations = [...this.changed(image), ...this.afterKill(image, life)];
    for (const stored of image.tasks.values()) {
      const { id } = stored.task;
      violations.push(...about(id, endFaults(stored, this.observations.tasks.get(id))));
    }
    return [...violations, ...this.creates(image), ...this.observations.faults];
  }

  /** Whatever a client was told of a task, the task is on disk (R1). */
  private lost(image: StoreImage): Violation[] {
    return [...this.observations.tasks.keys()]
      .filter((id) => !image.tasks.has(id) && !this.settled.has(id))
      .map((id) => ({ subject: id, rule: 'R1', what: 'a client knows it, the store does not' }));
  }

  private taskFaults(stored: StoredTask): Fault[] {
    const faults = storedFaults(stored);
    const observed = this.observations.tasks.get(stored.task.id);
    if (observed) faults.push(...observedFaults(stored, observed));
    const reference = this.references.get(jobOfLabel(stored.task.metadata['label'] ?? ''));
    if (reference) faults.push(...referenceFaults(stored, reference));
    return faults;
  }

  private changed(image: StoreImage): Violation[] {
    return [...this.settled].flatMap(([id, digest]) => {
      const stored = image.tasks.get(id);
      if (!stored) return [{ subject: id, rule: 'R4', what: 'it had ended and is gone' }];
      return digestOf(stored) === digest ? [] : [{ subject: id, rule: 'B4', what: 'it changed after its end' }];
    });
  }

  private creates(image: StoreImage): Violation[] {
    const byLabel = new Map<string, StoredTask[]>();
    for (const stored of image.tasks.values()) {
      const label = stored.task.metadata['label'] ?? '';
      byLabel.set(label, [...(byLabel.get(label) ?? []), stored]);
    }
    return [...this.observations.creates.values()].flatMap((create) =>
      about(create.label, createFaults(create, byLabel.get(create.label) ?? [])),
    );
  }
}

function digestOf({ task, events, snapshots, response }: StoredTask): string {
  return createHash('sha256')
    .update(JSON.stringify([task, events, snapshots, response]))
    .digest('base64');
}
