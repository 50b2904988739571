import { ConfigInvalid } from '../config/index.js';
import { DataDirectoryInUse, sqliteCode, StoreUnusable } from '../database/index.js';
import { StartRefused } from '../errors/index.js';

/** Exit codes of the server process (OPERATE 1.2). A unit must not restart it on 65, 75 or 78. */
export const EXIT_CODES = {
  clean: 0,
  failed: 1,
  /** The database is newer than the program, or fails its check. */
  storeUnusable: 65,
  /** Another service holds the data directory. */
  dataDirectoryInUse: 75,
  configurationInvalid: 78,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

/** The code for what made a start or a stop fail. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof ConfigInvalid || error instanceof StartRefused) return EXIT_CODES.configurationInvalid;
  if (error instanceof DataDirectoryInUse) return EXIT_CODES.dataDirectoryInUse;
  if (error instanceof StoreUnusable || isDamage(error)) return EXIT_CODES.storeUnusable;
  return EXIT_CODES.failed;
}

/** Why the start failed, in one line. */
export function complaintOf(error: unknown): string {
  const message = (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, ' ');
  return isDamage(error) ? `the store is damaged; put a copy in its place (${message})` : message;
}

/** Damage that only a later read met: the whole file is not checked at each start. */
function isDamage(error: unknown): boolean {
  return ['SQLITE_CORRUPT', 'SQLITE_NOTADB'].includes(sqliteCode(error) ?? '');
}
