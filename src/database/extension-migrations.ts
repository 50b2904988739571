import { DataSource, type DataSourceOptions, type MigrationInterface, type QueryRunner } from 'typeorm';
import type { PlainConnection } from './plain-connection.js';

export type MigrationClass = new () => MigrationInterface;

/** The migrations of one extension. */
export interface ExtensionMigrations {
  /** Name of the extension. */
  owner: string;
  /** What the names of its tables begin with. */
  tablePrefix: string;
  /** Class names end in their timestamp. */
  migrations: readonly MigrationClass[];
}

/** Table in which the migrations of extensions are noted, each with its extension: `audit-sink:CreateEntries1797…`. */
export const EXTENSION_MIGRATIONS_TABLE = 'extension_migrations';

/** Names as they are noted. */
export function notedNames(sets: readonly ExtensionMigrations[]): string[] {
  return sets.flatMap(({ owner, migrations }) => migrations.map(({ name }) => `${owner}:${name}`));
}

/** Of the noted names, those that a loaded extension does not know: a newer version of it wrote them. */
export function unknownNames(noted: readonly string[], sets: readonly ExtensionMigrations[]): string[] {
  const known = notedNames(sets);
  const loaded = sets.map(({ owner }) => `${owner}:`);
  return noted.filter((name) => loaded.some((owner) => name.startsWith(owner)) && !known.includes(name));
}

/** Runs what has not run yet, oldest first, each in its transaction; resolves with the names as they are noted. */
export async function migrateExtensions(
  options: DataSourceOptions & { type: 'sqlite' },
  sets: readonly ExtensionMigrations[],
): Promise<string[]> {
  const migrations = sets.flatMap((set) => set.migrations.map((migration) => owned(set, migration)));
  const source = new DataSource({
    ...options,
    entities: [],
    migrations,
    migrationsTableName: EXTENSION_MIGRATIONS_TABLE,
  });
  await source.initialize();
  try {
    return (await source.runMigrations({ transaction: 'each' })).map(({ name }) => name);
  } finally {
    await source.destroy();
  }
}

/** The migration under its noted name, within its bounds. */
function owned(set: ExtensionMigrations, migration: MigrationClass): MigrationClass {
  return class implements MigrationInterface {
    readonly name = `${set.owner}:${migration.name}`;
    private readonly own = new migration();

    async up(runner: QueryRunner): Promise<void> {
      const before = await schemaObjects(runner);
      await this.own.up(runner);
      const foul = outOfBounds(set.tablePrefix, before, await schemaObjects(runner)) ?? (await foreignKey(set, runner));
      if (foul !== null) throw new Error(`${this.name} ${foul}`);
    }

    async down(runner: QueryRunner): Promise<void> {
      await this.own.down(runner);
    }
  };
}

interface SchemaObject {
  name: string;
  /** Table that it belongs to; of a table or view, itself. */
  tbl_name: string;
  sql: string | null;
}

async function schemaObjects(runner: QueryRunner): Promise<SchemaObject[]> {
  const rows: unknown = await runner.query(
    `SELECT name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'`,
  );
  return rows as SchemaObject[];
}

/** What was made, changed or removed that is no table of the extension, nor an index or trigger of one; null: nothing. */
function outOfBounds(prefix: string, before: readonly SchemaObject[], after: readonly SchemaObject[]): string | null {
  const others = (objects: readonly SchemaObject[]): Map<string, string | null> =>
    new Map(objects.filter((each) => !isOwn(prefix, each)).map(({ name, sql }) => [name, sql]));
  const [was, is] = [others(before), others(after)];
  for (const [name, sql] of is) {
    if (!was.has(name)) return `makes ${name}: what it makes must belong to tables that begin with ${prefix}`;
    if (was.get(name) !== sql) return `changes ${name}, which is not its own`;
  }
  const gone = [...was.keys()].find((name) => !is.has(name));
  return gone === undefined ? null : `removes ${gone}, which is not its own`;
}

function isOwn(prefix: string, { tbl_name: table }: SchemaObject): boolean {
  return table.toLowerCase().startsWith(prefix);
}

/** Rows of the service that an extension's rows refer to could no longer be removed, or would take those along. */
async function foreignKey({ tablePrefix }: ExtensionMigrations, runner: QueryRunner): Promise<string | null> {
  const rows: unknown = await runner.query(
    `SELECT t.name AS own, k."table" AS other FROM sqlite_schema t, pragma_foreign_key_list(t.name) k WHERE t.type = 'table'`,
  );
  const own = (name: string): boolean => isOwn(tablePrefix, { name, tbl_name: name, sql: null });
  const foul = (rows as { own: string; other: string }[]).find((key) => own(key.own) && !own(key.other));
  return foul ? `ties ${foul.own} to ${foul.other} by a foreign key: keep the id alone` : null;
}

/** The names that the store has; none where there is no such table. */
export async function notedMigrations(connection: PlainConnection, table: string): Promise<string[]> {
  const tables = await connection.rows("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", [table]);
  if (tables.length === 0) return [];
  const rows = await connection.rows<{ name: string }>(`SELECT name FROM ${table} ORDER BY id`);
  return rows.map((row) => row.name);
}
