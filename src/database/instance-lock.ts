import { join } from 'node:path';
import sqlite3 from 'sqlite3';
import { DataDirectoryInUse } from './database.errors.js';
import { PlainConnection } from './plain-connection.js';
import { ensurePrivateFile } from './private-files.js';
import { storageFault } from './storage-fault.js';

/**
 * One process per data directory (HOUSE 4.10). The lock is SQLite's own on a tiny second database: the kernel drops it
 * with the process, so a SIGKILL leaves nothing to clean up.
 */
export class InstanceLock {
  private constructor(private readonly connection: PlainConnection) {}

  /** Rejects at once with DataDirectoryInUse where another process, or this one, holds the directory. */
  static async take(dataDir: string): Promise<InstanceLock> {
    const file = join(dataDir, 'lmsp.lock');
    await ensurePrivateFile(file);
    const connection = await PlainConnection.open(file, sqlite3.OPEN_READWRITE);
    try {
      await connection.rows('PRAGMA busy_timeout = 0');
      await connection.rows('PRAGMA journal_mode = MEMORY');
      await connection.rows('PRAGMA locking_mode = EXCLUSIVE');
      await connection.rows('BEGIN EXCLUSIVE');
    } catch (error) {
      await connection.close();
      throw storageFault(error) === 'busy' ? new DataDirectoryInUse(dataDir) : error;
    }
    return new InstanceLock(connection);
  }

  release(): Promise<void> {
    return this.connection.close();
  }
}
