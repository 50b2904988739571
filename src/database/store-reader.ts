import type { DataSource, EntityManager } from 'typeorm';
import type { SqlParameters } from './tx.js';

/**
 * Reads outside a unit: a read-only connection that sees committed rows only. One statement is one snapshot; what a
 * write depends on is read inside its unit instead (HOUSE 4.7).
 */
export class StoreReader {
  constructor(private readonly source: DataSource) {}

  query<R>(sql: string, parameters: SqlParameters = []): Promise<R[]> {
    return this.source.query<R[]>(sql, [...parameters]);
  }

  get manager(): EntityManager {
    return this.source.manager;
  }
}
