import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';

/** What package.json may say of what is imported from outside. */
interface Entry {
  exports?: unknown;
}

/**
 * File of an extension: a path is looked for below each folder, a package among the packages that a program in the folder
 * could import. The first that is found counts. Throws what the last folder had to say.
 * @param name of a package, or a path
 * @param folders absolute, in order
 */
export function findExtension(name: string, folders: readonly string[]): string {
  let refusal: unknown;
  for (const folder of folders) {
    try {
      return findIn(name, folder);
    } catch (error) {
      refusal = error;
    }
  }
  throw refusal;
}

function findIn(name: string, folder: string): string {
  const require = createRequire(join(folder, 'from-here.js'));
  if (isAbsolute(name) || /^\.{1,2}[\\/]/.test(name)) return require.resolve(resolve(folder, name));
  try {
    return require.resolve(name);
  } catch (error) {
    // The package has something for `import` alone.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw error;
    return importedEntry(name, require.resolve.paths(name) ?? []) ?? rethrow(error);
  }
}

function importedEntry(name: string, folders: readonly string[]): string | null {
  for (const folder of folders) {
    const manifest = readManifest(join(folder, name, 'package.json'));
    const entry = manifest && targetOf(manifest.exports);
    if (entry != null) return join(folder, name, entry);
  }
  return null;
}

function readManifest(file: string): Entry | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Entry;
  } catch {
    return null;
  }
}

/** The file behind `.` for `import`. */
function targetOf(exports: unknown): string | null {
  if (typeof exports === 'string') return exports;
  if (typeof exports !== 'object' || exports === null) return null;
  const conditions = exports as Record<string, unknown>;
  return targetOf(conditions['.'] ?? conditions['import'] ?? conditions['node'] ?? conditions['default'] ?? null);
}

function rethrow(error: unknown): never {
  throw error;
}
