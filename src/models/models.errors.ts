import { DomainError, type ErrorCode } from '../errors/index.js';
import type { ModelRecord } from './model-record.js';

const RETRY_AFTER_SECONDS = 1;
/** A broken model comes back by the hand of a person. */
const REPAIR_SECONDS = 30;

export function modelNotFound(id: string): DomainError {
  return new DomainError('model_not_found', `The model '${id}' does not exist; GET /v1/models lists those that do.`, {
    param: 'model',
  });
}

export function modelUnavailable({ id, error }: ModelRecord): DomainError {
  const reason = error?.message ?? 'Its files cannot be used.';
  return new DomainError('model_unavailable', `The model '${id}' is unavailable. ${reason}`, {
    param: 'model',
    retryAfterSeconds: REPAIR_SECONDS,
  });
}

/** Its process died again and again, with no request to blame (WIRE B6). */
export function modelQuarantined(id: string): DomainError {
  const message = `The model '${id}' is unavailable: its process died repeatedly. POST /v1/models/load tries it again.`;
  return new DomainError('model_unavailable', message, { param: 'model', retryAfterSeconds: REPAIR_SECONDS });
}

export function modelInUse(id: string): DomainError {
  return new DomainError('model_in_use', `The model '${id}' is in use; cancel its work or wait for its end.`, {
    param: 'model',
  });
}

export function modelExists(name: string): DomainError {
  return new DomainError('model_exists', `A model is called '${name}' already; delete it or choose another name.`, {
    param: 'id',
  });
}

export function modelEmbedded(id: string): DomainError {
  return new DomainError('model_in_use', `The model '${id}' is part of the service and stays.`, { param: 'model' });
}

export function modelLoadFailed(id: string, reason: string, cause?: unknown): DomainError {
  return new DomainError('model_load_failed', `The model '${id}' could not be loaded. ${reason}`, { cause });
}

/** Not even an empty memory would do: a person has to change something. */
export function insufficientResources(
  id: string,
  { needed, budgetBytes, pinned }: { needed: number; budgetBytes: number; pinned: number },
): DomainError {
  const kept = pinned === 0 ? '' : `, of which pinned models keep ${pinned}`;
  const message = `The model '${id}' needs about ${needed} bytes of memory; LMSP_MODEL_MEMORY_BYTES is ${budgetBytes}${kept}.`;
  return new DomainError('insufficient_resources', message, { param: 'model', retryAfterSeconds: REPAIR_SECONDS });
}

export function waitingRoomFull(waiting: string): DomainError {
  return new DomainError('queue_full', `${waiting} already wait for a model; try again shortly.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** The request names a model of another type. */
export function wrongKind(what: string): DomainError {
  return new DomainError('unsupported_value', `The model cannot do this. ${what}`, { param: 'model' });
}

/** The codes a task that waits for its model may fail with (WIRE B4 row 5). */
const LOAD_CODES: readonly ErrorCode[] = [
  'model_load_failed',
  'insufficient_resources',
  'model_not_found',
  'server_shutting_down',
  // The disk's doing, not the model's: a later load may find it mended.
  'storage_busy',
  'storage_full',
];

/** Whatever stopped a load, in the words its waiters may be told. */
export function asLoadError(id: string, error: unknown): DomainError {
  if (error instanceof DomainError && LOAD_CODES.includes(error.code)) return error;
  return modelLoadFailed(id, 'The service log has the reason.', error);
}

/** For the log: the message and what lies behind it. */
export function reasonOf({ message, cause }: DomainError): string {
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}
