import { DomainError } from '../errors/index.js';
import type { KeyedRequest } from '../http/index.js';
import type { Task } from './task.js';

/** A task, and the request that made it. */
export interface KeyHolder {
  request: KeyedRequest;
  task: Task;
}

/** Who holds which idempotency key, as one unit sees it: what is on disk, and what the unit itself decides in order. */
export class KeyHolders {
  /** The tasks on disk that hold a key, by id. */
  readonly tasks: ReadonlyMap<string, Task>;
  private readonly held = new Map<string, { taskId: string; fingerprint: string }>();

  constructor(found: KeyHolder[]) {
    this.tasks = new Map(found.map(({ task }) => [task.id, task]));
    for (const { request, task } of found) this.hold(request, task.id);
  }

  /** Id of the task that holds the key, null for nobody, or the refusal idempotency_key_reused. */
  of(request: KeyedRequest): string | DomainError | null {
    const holder = this.held.get(placeOf(request));
    if (!holder) return null;
    return holder.fingerprint === request.fingerprint ? holder.taskId : keyReused();
  }

  /** From now on the task holds the key of its request. */
  hold(request: KeyedRequest, taskId: string): void {
    this.held.set(placeOf(request), { taskId, fingerprint: request.fingerprint });
  }
}

/** Keys are per client and route (WIRE B6). */
function placeOf({ clientId, method, route, key }: KeyedRequest): string {
  return JSON.stringify([clientId, method, route, key]);
}

export function keyReused(): DomainError {
  return new DomainError(
    'idempotency_key_reused',
    'This Idempotency-Key was sent with another request; send a new request with a new key.',
    { param: 'Idempotency-Key' },
  );
}
