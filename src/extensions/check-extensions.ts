import semver from 'semver';
import { isScopeName } from '../clients/index.js';
import { extensionNameRule, isExtensionName } from '../config/index.js';
import { StartRefused } from '../errors/index.js';
import type { Extension } from '../extension.js';
import { claimsOf, SERVICE, tableOf, tablePrefix, type Claim } from './claims.js';

const MIGRATION = /^[A-Za-z_$][\w$]*\d{13}$/;

/**
 * Everything that can be said against the extensions before anything is opened. Throws StartRefused with every problem.
 * @param version that of this package
 */
export function checkExtensions(extensions: readonly Extension[], ours: readonly Claim[], version: string): void {
  const problems = [
    ...extensions.flatMap((extension) => [...badNames(extension), ...incompatible(extension, version)]),
    ...clashes(extensions, ours),
  ];
  if (problems.length > 0) throw new StartRefused(problems);
}

/** What kept an extension from starting, in one sentence. */
export function refusedExtension({ name, version }: Pick<Extension, 'name' | 'version'>, why: string): string {
  return `extension ${name} ${version}: ${why}`;
}

function badNames(extension: Extension): string[] {
  const { name, version, entities = [], migrations = [], scopes = {} } = extension;
  const problems: string[] = [];
  if (!isExtensionName(name)) problems.push(`its name must be ${extensionNameRule}`);
  if (semver.valid(version) === null) problems.push('its version is no semantic version');
  for (const entity of entities) problems.push(...badEntity(name, entity));
  for (const migration of migrations) {
    if (!MIGRATION.test(migration.name))
      problems.push(`the migration ${migration.name} must end in 13 digits, its time`);
  }
  for (const scope of Object.keys(scopes)) {
    if (!isScopeName(scope)) problems.push(`the scope ${scope} must look like ${name}:read`);
  }
  return problems.map((problem) => refusedExtension(extension, problem));
}

/** The prefix keeps later versions of the service, and other extensions, from ever needing the name. */
function badEntity(name: string, entity: new () => object): string[] {
  const table = tableOf(entity);
  if (table === null) {
    return [`${entity.name} is no entity of the service's TypeORM: is there a second copy beside the extension?`];
  }
  const prefix = tablePrefix(name);
  return table.startsWith(prefix) ? [] : [`the table ${table} must begin with ${prefix}`];
}

function incompatible(extension: Extension, version: string): string[] {
  const { compatibleWith } = extension;
  if (semver.validRange(compatibleWith) === null) {
    return [refusedExtension(extension, `compatibleWith is no range of versions: ${JSON.stringify(compatibleWith)}`)];
  }
  if (semver.satisfies(version, compatibleWith, { includePrerelease: true })) return [];
  return [refusedExtension(extension, `works with lmsp-service ${compatibleWith}, and this is ${version}`)];
}

/** Each name that two owners claim, with both. */
function clashes(extensions: readonly Extension[], ours: readonly Claim[]): string[] {
  const owners = new Map(ours.map((claim) => [keyOf(claim), SERVICE]));
  return extensions.flatMap((extension) => {
    const own = `extension ${extension.name}`;
    return claimsOf(extension).flatMap((claim) => {
      const key = keyOf(claim);
      const other = owners.get(key);
      owners.set(key, own);
      if (other === undefined) return [];
      const both = other === own ? `${own} twice` : `${other} and ${own}`;
      return [`${claim.what} ${claim.name} is claimed by ${both}`];
    });
  });
}

const keyOf = ({ what, name }: Claim): string => `${what} ${name.toLowerCase()}`;
