import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../migrations/index.js';
import { loadConfig } from './config/index.js';
import { MIGRATIONS_TABLE } from './database/index.js';
import { ENTITIES } from './entities.js';

/**
 * For TypeORM's command line only (`migration:show`, `migration:generate --check`), which asks for a default export:
 * `npx typeorm migration:show -d dist/src/data-source.js`. The service itself opens its store in `database`.
 */
export default new DataSource({
  type: 'sqlite',
  database: join(loadConfig().dataDir, 'lmsp.sqlite'),
  entities: [...ENTITIES],
  migrations: [...MIGRATIONS],
  migrationsTableName: MIGRATIONS_TABLE,
});
