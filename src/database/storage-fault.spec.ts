import { expect, test } from 'vitest';
import { sqliteCode, StorageFault, storageFault } from './storage-fault.js';

const driverError = (code: string): Error => Object.assign(new Error(`${code}: text`), { code, errno: 1 });
const wrapped = (code: string): Error => Object.assign(new Error('QueryFailed'), { driverError: driverError(code) });

test.each([
  ['SQLITE_BUSY', 'busy', 'storage_busy'],
  ['SQLITE_LOCKED', 'busy', 'storage_busy'],
  ['SQLITE_FULL', 'full', 'storage_full'],
  ['SQLITE_IOERR', 'io', 'server_error'],
] as const)("%s is the storage's fault (%s) and answered with %s and a time to come back", (code, fault, answer) => {
  expect(storageFault(driverError(code))).toBe(fault);
  expect(storageFault(wrapped(code))).toBe(fault);
  const error = new StorageFault(fault, driverError(code));
  expect(storageFault(error)).toBe(fault);
  expect(error.code).toBe(answer);
  expect(error.retryAfterSeconds).toBeGreaterThan(0);
});

test("a violated constraint, our own errors and other things are not the storage's fault", () => {
  expect(storageFault(wrapped('SQLITE_CONSTRAINT'))).toBeNull();
  expect(storageFault(new Error('SQLITE_BUSY only in words'))).toBeNull();
  expect(storageFault(driverError('ENOSPC'))).toBeNull();
  expect(storageFault('SQLITE_BUSY')).toBeNull();
  expect(sqliteCode(undefined)).toBeNull();
});
