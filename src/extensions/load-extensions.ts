import { pathToFileURL } from 'node:url';
import { packageRoot, type Config } from '../config/index.js';
import { StartRefused } from '../errors/index.js';
import type { Extension } from '../extension.js';
import { foreignPeer } from './check-peers.js';
import { findExtension } from './find-extension.js';

/**
 * The extensions that LMSP_EXTENSIONS names, in its order: the default export of each, or the one named `extension`. Looked
 * for from the working directory, then the data directory, then beside the service. Throws StartRefused with every one that cannot
 * be used.
 */
export async function loadExtensions({ extensions: names, dataDir }: Config): Promise<Extension[]> {
  const folders = [process.cwd(), dataDir, packageRoot()];
  const loaded: Extension[] = [];
  const problems: string[] = [];
  for (const name of names) {
    try {
      loaded.push(await load(name, folders));
    } catch (error) {
      problems.push(`extension ${name} cannot be loaded: ${(error as Error).message}`);
    }
  }
  if (problems.length > 0) throw new StartRefused(problems);
  return loaded;
}

async function load(name: string, folders: readonly string[]): Promise<Extension> {
  const file = findExtension(name, folders);
  const foreign = foreignPeer(file);
  if (foreign !== null) throw new Error(foreign);
  const module = (await import(pathToFileURL(file).href)) as { default?: unknown; extension?: unknown };
  const found = [module.extension, module.default].find(isExtension);
  if (found) return found;
  throw new Error(`${file} exports no extension: neither by default nor under the name extension`);
}

/** As far as the fields go that every one has; the rest is checked with it. */
export function isExtension(value: unknown): value is Extension {
  if (typeof value !== 'object' || value === null) return false;
  const { name, version, compatibleWith, module } = value as Record<string, unknown>;
  const texts = [name, version, compatibleWith].every((field) => typeof field === 'string');
  return texts && (typeof module === 'function' || (typeof module === 'object' && module !== null));
}
