import { DomainError, type ErrorCode } from '../errors/index.js';

/** What the disk or another process did to us: a lock held elsewhere, no space, a failing device. Never the input's fault. */
export const STORAGE_FAULT_KINDS = ['busy', 'full', 'io'] as const;
export type StorageFaultKind = (typeof STORAGE_FAULT_KINDS)[number];

const KIND_OF_CODE: Partial<Record<string, StorageFaultKind>> = {
  SQLITE_BUSY: 'busy',
  SQLITE_LOCKED: 'busy',
  SQLITE_FULL: 'full',
  SQLITE_IOERR: 'io',
};

const ANSWERS: Record<StorageFaultKind, { code: ErrorCode; message: string; retryAfterSeconds: number }> = {
  busy: { code: 'storage_busy', message: 'The database is locked; send the request again.', retryAfterSeconds: 1 },
  full: {
    code: 'storage_full',
    message: 'The disk of the data directory is full; free some space.',
    retryAfterSeconds: 30,
  },
  io: { code: 'server_error', message: 'The disk of the data directory fails; see the log.', retryAfterSeconds: 30 },
};

/** A write that the disk refused. Repeating it later is right; nothing of it was stored. */
export class StorageFault extends DomainError {
  constructor(
    readonly fault: StorageFaultKind,
    cause: unknown,
  ) {
    const { code, message, retryAfterSeconds } = ANSWERS[fault];
    super(code, message, { cause, retryAfterSeconds });
    this.name = 'StorageFault';
  }
}

/** SQLite's name of the error (`SQLITE_CONSTRAINT`), read through TypeORM's wrapping; null for anything else. */
export function sqliteCode(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { driverError, code } = error as { driverError?: unknown; code?: unknown };
  if (driverError !== undefined) return sqliteCode(driverError);
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : null;
}

/** Whether an error is the disk's doing, and how: such a write is repeated, not blamed on its input (HOUSE 4.8). */
export function storageFault(error: unknown): StorageFaultKind | null {
  if (error instanceof StorageFault) return error.fault;
  return KIND_OF_CODE[sqliteCode(error) ?? ''] ?? null;
}
