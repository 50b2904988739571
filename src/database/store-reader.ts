import type { DataSource, EntityManager } from 'typeorm';
import type { QueuedDatabase } from './queued-database.js';
import type { SqlParameters } from './tx.js';

/**
 * Reads outside a unit: a read-only connection that sees committed rows only. One statement is one snapshot; what a
 * write depends on is read inside its unit instead (HOUSE 4.7).
 */
export class StoreReader {
  constructor(
    private readonly source: DataSource,
    private readonly connection: QueuedDatabase,
  ) {}

  async query<R>(sql: string, parameters: SqlParameters = []): Promise<R[]> {
    const { rows } = await this.connection.send<R>('all', sql, parameters);
    return rows;
  }

  get manager(): EntityManager {
    return this.source.manager;
  }
}
