export { type BallastState } from './ballast.js';
export { Batcher, type BatcherOptions, type Waiting } from './batcher.js';
export {
  brokenUnitRules,
  DataDirectoryInUse,
  NestedUnit,
  StoreClosed,
  StoreUnusable,
  TransactionControl,
  TransactionEnded,
  UnawaitedStatement,
  UnitTimedOut,
  WriteOutsideUnit,
} from './database.errors.js';
export { DatabaseModule, type StoreSchema } from './database.module.js';
export { type ExtensionMigrations } from './extension-migrations.js';
export { identifierSuffix, newIdentifier } from './identifiers.js';
export { keptFact, readFact, writeFact } from './service-facts.js';
export { MIGRATIONS_TABLE } from './store-file.js';
export { JointReads } from './joint-reads.js';
export { packTexts } from './packed-texts.js';
export { sqliteCode, StorageFault, storageFault, type StorageFaultKind } from './storage-fault.js';
export { openStore, Store, type StoreOptions, type StoreSizes, type StoreUpgrade } from './store.js';
export { StoreReader } from './store-reader.js';
export type { SqlParameters, Tx } from './tx.js';
export { surroundingUnit, UNIT_KINDS, UnitOfWork, type CommittedUnit, type UnitKind } from './unit-of-work.js';
