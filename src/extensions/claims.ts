import { DefaultNamingStrategy, getMetadataArgsStorage } from 'typeorm';
import { SCOPES } from '../clients/index.js';
import { extensionVariable, type DeclaredSettings } from '../config/index.js';
import type { ExtensionMigrations } from '../database/index.js';
import type { Extension } from '../extension.js';

/** Whose the things are that no extension can have. */
export const SERVICE = 'the service';

/** A name that one owner has and no other can have. */
export interface Claim {
  /** What kind of name it is, as a complaint says it. */
  what: string;
  name: string;
}

type EntityClass = new () => object;

/** Every name that an extension claims for itself. */
export function claimsOf(extension: Extension): Claim[] {
  const { entities = [], migrations = [], strategies = {}, scopes = {} } = extension;
  const claim = (what: string, names: readonly string[]): Claim[] => names.map((name) => ({ what, name }));
  return [
    ...claim('the name', [extension.name]),
    ...claim(
      'the table',
      entities.map((entity) => tableOf(entity) ?? entity.name),
    ),
    ...claim(
      'the migration',
      migrations.map(({ name }) => name),
    ),
    ...claim(
      'the strategy',
      Object.entries(strategies).flatMap(([name, implementation]) => (implementation ? [name] : [])),
    ),
    ...claim('the scope', Object.keys(scopes)),
    ...claim(
      'the setting',
      Object.keys(extension.configKeys ?? {}).map((key) => extensionVariable(extension.name, key)),
    ),
  ];
}

/** The names that the service has already. */
export function claimsOfService(entities: readonly EntityClass[], migrations: readonly { name: string }[]): Claim[] {
  return [
    ...entities.map((entity) => ({ what: 'the table', name: tableOf(entity) ?? entity.name })),
    ...migrations.map(({ name }) => ({ what: 'the migration', name })),
    ...SCOPES.map((name) => ({ what: 'the scope', name })),
  ];
}

/** Name of an entity's table; null: it is no entity that this TypeORM knows. */
export function tableOf(entity: EntityClass): string | null {
  const table = getMetadataArgsStorage().tables.find(({ target }) => target === entity);
  return table ? new DefaultNamingStrategy().tableName(entity.name, table.name) : null;
}

/** What the tables of an extension begin with. */
export function tablePrefix(name: string): string {
  return `${name.replaceAll('-', '_')}_`;
}

export function declaredBy(extensions: readonly Extension[]): DeclaredSettings[] {
  return extensions.map(({ name, configKeys = {} }) => ({ extension: name, settings: configKeys }));
}

export function migrationsOf(extensions: readonly Extension[]): ExtensionMigrations[] {
  return extensions.flatMap(({ name, migrations = [] }) =>
    migrations.length === 0 ? [] : [{ owner: name, tablePrefix: tablePrefix(name), migrations }],
  );
}
