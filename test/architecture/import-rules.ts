import { posix } from 'node:path';
import { importsOf, readRepositoryFile, type SourceFile } from './source-files.js';

/** Folder of src → folders it may import, lowest first (HOUSE 2). */
export type ImportTable = Readonly<Record<string, readonly string[]>>;

export const IMPORT_TABLE = JSON.parse(readRepositoryFile('test/architecture/import-table.json')) as ImportTable;

/** What puts the application together, and so may look inside modules; a trailing slash names a folder. */
const INSIDERS: readonly string[] = ['src/entities.ts', 'src/testing/'];

/** The folder that starts the whole application, for tests of extensions. */
const KIT = 'testing';

/** The root file that says what an extension is, and the module that takes extensions in. */
const DESCRIPTION = 'src/extension.js';
const TAKES_EXTENSIONS = 'extensions';

/** What is wrong with the imports of one file below src or migrations. */
export function importViolations(file: SourceFile, table: ImportTable): string[] {
  const targets = importsOf(file).filter((specifier) => specifier.startsWith('.'));
  return targets.flatMap((specifier) => {
    const target = posix.join(posix.dirname(file.path), specifier);
    const problem = judge(file.path, target, table);
    return problem === null ? [] : [`${file.path} → ${target}: ${problem}`];
  });
}

/** The table as ARCHITECTURE.md prints it. */
export function renderImportTable(table: ImportTable): string {
  const rows = Object.entries(table).map(([folder, allowed]) => {
    const names = allowed.map((name) => `\`${name}\``).join(', ');
    return `| \`${folder}\` | ${names === '' ? 'nothing of ours' : names} |`;
  });
  return ['| folder | may import |', '| --- | --- |', ...rows].join('\n');
}

function judge(from: string, target: string, table: ImportTable): string | null {
  if (from.startsWith('migrations/')) {
    return target.startsWith('migrations/') ? null : 'a migration imports nothing of ours';
  }
  if (!target.startsWith('src/')) return judgeOutside(from, target);
  const [own, module] = [moduleOf(from), moduleOf(target)];
  if (own === module) return ownIndex(own) === target ? 'a module never imports its own index' : null;
  if (own === TAKES_EXTENSIONS && target === DESCRIPTION) return null;
  if (own === KIT && module === null) return null;
  if (own !== null && (module === null || !table[own]?.includes(module))) {
    return `${own} must not import ${module ?? 'the root files'}`;
  }
  const throughIndex = module === null || target === ownIndex(module) || isInsider(from);
  return throughIndex ? null : 'a module is imported through its index.ts';
}

function judgeOutside(from: string, target: string): string | null {
  if (from.endsWith('.spec.ts') && target.startsWith('test/')) return null;
  const ofRoot = moduleOf(from) === null && target.startsWith('migrations/');
  return ofRoot ? null : 'sources import nothing outside of src';
}

/** Folder of src that a path lies in; null for the files directly in src. */
function moduleOf(path: string): string | null {
  const [, folder, rest] = path.split('/');
  return rest === undefined ? null : (folder ?? null);
}

function isInsider(path: string): boolean {
  return INSIDERS.some((place) => path === place || (place.endsWith('/') && path.startsWith(place)));
}

function ownIndex(module: string | null): string {
  return `src/${module}/index.js`;
}
