import { channel } from 'node:diagnostics_channel';
import { ServiceStopping } from '../errors/index.js';
import { sqliteCode, storageFault } from './storage-fault.js';

/** Another process holds the data directory. Exit code 75. */
export class DataDirectoryInUse extends Error {
  constructor(readonly dataDir: string) {
    super(`the data directory ${dataDir} is in use by another running service`);
    this.name = 'DataDirectoryInUse';
  }
}

/** The store was made by a newer program, is another program's or is damaged; nothing was written. Exit code 65. */
export class StoreUnusable extends Error {
  constructor(
    file: string,
    readonly reason: string,
    options?: { cause?: unknown },
  ) {
    super(`the store ${file} cannot be used: ${reason}`, options);
    this.name = 'StoreUnusable';
  }
}

/**
 * What kept the store from being opened. A full, locked or failing disk says nothing against the store, and a later
 * start may find it mended: that is an ordinary error (exit code 1), everything else is StoreUnusable.
 */
export function storeRefused(file: string, reason: string, cause: unknown): Error {
  const why = `${reason} (${(cause as Error).message})`;
  if (storageFault(cause) === null) return new StoreUnusable(file, why, { cause });
  return new Error(`the disk keeps the store ${file} from being opened: ${why}`, { cause });
}

/**
 * What kept a store from being copied before its upgrade; the upgrade has not begun. Missing room or rights say nothing
 * against the store (exit code 1).
 */
export function copyRefused(file: string, cause: unknown): Error {
  const reason = 'it could not be copied before its upgrade';
  if (sqliteCode(cause) !== null) return storeRefused(file, reason, cause);
  return new Error(`the store ${file} was left as it is: ${reason} (${(cause as Error).message})`, { cause });
}

/**
 * What kept the schema from being upgraded, as `storeRefused` judges it. Earlier migrations of the same start stay, which
 * the former program refuses: the way back is the copy.
 * @param copy path of the copy made before; null for a store that was empty
 */
export function upgradeRefused(file: string, copy: string | null, cause: unknown): Error {
  const back = copy === null ? '' : `; to go back to the former version, copy ${copy} over it first`;
  if (cause instanceof StoreUnusable) return new StoreUnusable(file, `${cause.reason}${back}`, { cause });
  return storeRefused(file, `its schema could not be upgraded${back}`, cause);
}

/** The store is closing: no new unit is taken. */
export class StoreClosed extends ServiceStopping {
  constructor() {
    super();
    this.name = 'StoreClosed';
  }
}

/** Hears of each broken rule, also of one whose error nobody looks at: what tests watch. */
export const brokenUnitRules = channel('lmsp-service:broken-unit-rule');

/** What a unit of work, or whatever goes around it, must never do (HOUSE 4). */
class UnitRuleBroken extends Error {
  constructor(message: string) {
    super(message);
    brokenUnitRules.publish(this);
  }
}

/** A statement reached the writing connection without a unit of work: it would have joined somebody else's transaction. */
export class WriteOutsideUnit extends UnitRuleBroken {
  constructor(sql: string) {
    super(`statement outside a unit of work: ${firstWords(sql)}`);
    this.name = 'WriteOutsideUnit';
  }
}

/** `UnitOfWork.run` inside a unit: pass the `tx` down instead. */
export class NestedUnit extends UnitRuleBroken {
  constructor() {
    super('a unit of work was started inside another; pass its tx down instead');
    this.name = 'NestedUnit';
  }
}

/** A `tx` was used after its unit had ended, or tried to end it itself. */
export class TransactionEnded extends UnitRuleBroken {
  constructor(use: string) {
    super(`the unit of work has ended: ${firstWords(use)}`);
    this.name = 'TransactionEnded';
  }
}

/** A unit began, committed or rolled back by hand; only the unit of work does that. */
export class TransactionControl extends UnitRuleBroken {
  constructor(use: string) {
    super(`only the unit of work begins and ends transactions: ${firstWords(use)}`);
    this.name = 'TransactionControl';
  }
}

/** The unit's work ended without awaiting a statement it had sent; the unit was rolled back. */
export class UnawaitedStatement extends UnitRuleBroken {
  constructor(uses: readonly string[]) {
    super(`not awaited inside a unit of work: ${uses.map(firstWords).join('; ')}`);
    this.name = 'UnawaitedStatement';
  }
}

/**
 * A statement was sent before the one before it had ended, as with Promise.all. Told to tests, and no reason to refuse the unit:
 * they run one after the other all the same, and whoever awaits all of them gets what was asked for.
 */
export class StatementsAtOnce extends Error {
  constructor(uses: readonly string[]) {
    super(`sent at the same time inside a unit of work: ${uses.map(firstWords).join('; ')}`);
    this.name = 'StatementsAtOnce';
  }
}

/** The unit was open longer than the limit; it was interrupted and rolled back. */
export class UnitTimedOut extends UnitRuleBroken {
  constructor(limitMs: number) {
    super(`a unit of work was still open after ${limitMs} ms and was rolled back`);
    this.name = 'UnitTimedOut';
  }
}

/** SQL of the product carries its values as parameters, so its first words hold no prompt, output or token. */
function firstWords(sql: string): string {
  return sql.trim().split(/\s+/, 4).join(' ');
}
