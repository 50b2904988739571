import { join } from 'node:path';
import sqlite3 from 'sqlite3';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { Ballast } from './ballast.js';
import { StoreUnusable, upgradeRefused } from './database.errors.js';
import { migrateExtensions, type ExtensionMigrations } from './extension-migrations.js';
import { InstanceLock } from './instance-lock.js';
import { ensurePrivateDirectory, sizeOf } from './private-files.js';
import type { QueuedDatabase } from './queued-database.js';
import { SilentLogger } from './silent-logger.js';
import { isBehind, MIGRATIONS_TABLE, pendingOfExtensions, prepareStoreFile, quickCheck } from './store-file.js';
import { setWriterPragmas, wrongPragmas } from './store-pragmas.js';
import { StoreReader } from './store-reader.js';
import { UnitOfWork } from './unit-of-work.js';
import { copyBeforeUpgrade } from './upgrade-copy.js';
import { guardedDriver, quietDriver, type GuardedDatabase } from './write-guard.js';

type EntityClass = new () => object;
type MigrationClass = new () => { up(runner: never): Promise<unknown>; down(runner: never): Promise<unknown> };

export interface StoreOptions {
  /** Folder of `lmsp.sqlite`; made with mode 0700 if absent. */
  dataDir: string;
  /** Longest wait for a lock that another process holds on the file. */
  busyTimeoutMs: number;
  unitTimeoutSeconds: number;
  /** Size of the ballast; 0 keeps none. */
  ballastBytes: number;
  entities: readonly EntityClass[];
  /** Oldest first; class names end in their timestamp. */
  migrations: readonly MigrationClass[];
  /** Run after them, in the same upgrade. */
  extensionMigrations?: readonly ExtensionMigrations[];
  /** Takes what an afterCommit or afterRollback callback threw; a process warning by default. */
  onCallbackError?: (error: unknown) => void;
}

/** What the opening of the store did to an older one. */
export interface StoreUpgrade {
  /** Path of the copy that was made before. */
  copy: string;
  /** Names of the migrations that ran. */
  migrations: string[];
  durationMs: number;
}

/** What a store holds open. */
interface OpenSources {
  writer: DataSource;
  reader: DataSource;
  /** Null where the store was new or up to date. */
  upgrade: StoreUpgrade | null;
}

/** Bytes. */
export interface StoreSizes {
  main: number;
  /** Written and not yet folded into the main file. */
  wal: number;
  /** In the main file, to be used again or given back. */
  free: number;
}

/** The open database of one data directory, held by this process alone. */
export class Store {
  readonly reader: StoreReader;

  readonly upgrade: StoreUpgrade | null;

  constructor(
    readonly file: string,
    readonly units: UnitOfWork,
    readonly ballast: Ballast,
    private readonly sources: OpenSources,
    private readonly lock: InstanceLock,
  ) {
    this.reader = new StoreReader(sources.reader, connectionOf(sources.reader));
    this.upgrade = sources.upgrade;
  }

  /** Bytes of the write-ahead log, which a stuck reader lets grow. */
  walBytes(): Promise<number> {
    return sizeOf(`${this.file}-wal`);
  }

  async sizes(): Promise<StoreSizes> {
    const [main, wal, [row]] = await Promise.all([
      sizeOf(this.file),
      this.walBytes(),
      this.reader.query<{ free: number }>(
        'select freelist_count * page_size as free from pragma_freelist_count(), pragma_page_size()',
      ),
    ]);
    return { main, wal, free: row?.free ?? 0 };
  }

  /** Refuses new units, waits for the submitted ones, folds the write-ahead log into the file and frees the directory. */
  async close(): Promise<void> {
    const { writer, reader } = this.sources;
    await this.units.close();
    if (!writer.isInitialized) return;
    await reader.destroy();
    await writer.destroy();
    await this.lock.release();
  }
}

/**
 * Opens, creates or, after a copy, upgrades the store. Rejects with DataDirectoryInUse (another process has it),
 * StoreUnusable (newer schema, foreign or damaged file, failed migration) or an ordinary error (the disk).
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { dataDir, busyTimeoutMs, unitTimeoutSeconds, onCallbackError = warn } = options;
  await ensurePrivateDirectory(dataDir);
  const lock = await InstanceLock.take(dataDir);
  try {
    const file = join(dataDir, 'lmsp.sqlite');
    const ballast = await Ballast.find(join(dataDir, 'ballast'), options.ballastBytes);
    const sources = await openSources(file, options);
    await ballast.lay();
    const units = new UnitOfWork(sources.writer, connectionOf<GuardedDatabase>(sources.writer), {
      unitTimeoutMs: unitTimeoutSeconds * 1000,
      busyTimeoutMs,
      onCallbackError,
      ballast,
    });
    return new Store(file, units, ballast, sources, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openSources(file: string, options: StoreOptions): Promise<OpenSources> {
  const opened: DataSource[] = [];
  try {
    const known = {
      service: options.migrations.map((migration) => migration.name),
      extensions: options.extensionMigrations ?? [],
    };
    const since = performance.now();
    const applied = await prepareStoreFile(file, known);
    const copy = isBehind(applied, known) ? await copyBeforeUpgrade(file, applied) : null;
    const writer = writerSource(file, options);
    opened.push(writer);
    const own = await boot(writer, file, copy, options);
    const theirs = pendingOfExtensions(applied, known) ? await extend(file, copy, options) : [];
    const migrations = [...own, ...theirs];
    const upgrade = copy === null ? null : { copy, migrations, durationMs: performance.now() - since };
    const reader = readerSource(file, options);
    opened.push(reader);
    await reader.initialize();
    return { writer, reader, upgrade };
  } catch (error) {
    for (const source of opened.reverse()) if (source.isInitialized) await source.destroy();
    throw error;
  }
}

/** Connects, migrates and checks; the guard is not up yet. Resolves with the names of the migrations that ran. */
async function boot(writer: DataSource, file: string, copy: string | null, options: StoreOptions): Promise<string[]> {
  await writer.initialize();
  const migrations = await migrate(writer, file, copy);
  const query = (sql: string) => writer.query<Array<Record<string, unknown>>>(sql);
  await setWriterPragmas(query);
  const wrong = await wrongPragmas(query, options.busyTimeoutMs);
  if (wrong.length > 0) throw new StoreUnusable(file, wrong.join(', '));
  return migrations;
}

async function migrate(writer: DataSource, file: string, copy: string | null): Promise<string[]> {
  try {
    const ran = await writer.runMigrations({ transaction: 'each' });
    if (copy !== null) await quickCheck(file);
    return ran.map(({ name }) => name);
  } catch (error) {
    // Foreign keys stay off on a connection whose migration failed, so there is no going on.
    throw upgradeRefused(file, copy, error);
  }
}

/** On a connection of its own, which ends with it: nothing else is open to be disturbed. */
async function extend(file: string, copy: string | null, options: StoreOptions): Promise<string[]> {
  try {
    const connection = { ...commonOptions(file, options), driver: quietDriver, enableWAL: true };
    const ran = await migrateExtensions(connection, options.extensionMigrations ?? []);
    if (copy !== null) await quickCheck(file);
    return ran;
  } catch (error) {
    throw upgradeRefused(file, copy, error);
  }
}

function commonOptions(file: string, options: StoreOptions) {
  return {
    type: 'sqlite',
    database: file,
    busyTimeout: options.busyTimeoutMs,
    entities: [...options.entities],
    synchronize: false,
    migrationsTableName: MIGRATIONS_TABLE,
    logger: new SilentLogger(),
  } as const satisfies DataSourceOptions;
}

function writerSource(file: string, options: StoreOptions): DataSource {
  return new DataSource({
    ...commonOptions(file, options),
    driver: guardedDriver,
    enableWAL: true,
    migrations: [...options.migrations],
  });
}

function readerSource(file: string, options: StoreOptions): DataSource {
  return new DataSource({ ...commonOptions(file, options), driver: quietDriver, flags: sqlite3.OPEN_READONLY });
}

function connectionOf<D extends QueuedDatabase>(source: DataSource): D {
  return (source.driver as unknown as { databaseConnection: D }).databaseConnection;
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
