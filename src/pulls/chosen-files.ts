import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { DomainError } from '../errors/index.js';
import { locationFault } from '../graphs/index.js';
import { chooseGraph, isLoaderFile, type Dtype, type ModelFiles } from '../models/index.js';
import type { ListedFile } from './model-source.js';

/** Of a file that is read before the others are chosen. */
const LARGEST_CONFIG_BYTES = 1_048_576;

/**
 * The files of a listing that the loader reads, by the rule by which a folder on disk is read; nothing else is fetched.
 * @param fetch makes a file of the listing be there, and resolves with its path
 */
export async function chooseFiles(
  listing: readonly ListedFile[],
  dtype: Dtype | null,
  fetch: (file: ListedFile) => Promise<string>,
): Promise<{ files: ListedFile[]; graphFile: string }> {
  const byPath = new Map(listing.map((file) => [file.path, file]));
  const view: ModelFiles = {
    has: (path) => Promise.resolve(byPath.has(path)),
    text: async (path) => {
      const file = byPath.get(path);
      if (!file) return null;
      if (file.sizeBytes > LARGEST_CONFIG_BYTES) throw unsupported(`${path} is too large.`);
      return readFile(await fetch(file), 'utf8');
    },
  };
  const { graphFile } = await chooseGraph(view, { dtype }).catch((error: unknown) => {
    throw asUnsupported(error);
  });
  return { graphFile, files: listing.filter(({ path }) => isLoaderFile(path, graphFile)) };
}

/** Which of the files have the weights that a graph names outside of itself; null: not all are among them. */
export function weightFiles(
  graphFile: string,
  locations: readonly string[],
  files: readonly ListedFile[],
): ListedFile[] | null {
  const found = locations.map((location) => {
    const fault = locationFault(location);
    if (fault !== null) throw unsupported(`${graphFile}: ${fault}.`);
    const path = posix.join(posix.dirname(graphFile), location);
    return files.find((file) => file.path === path);
  });
  return found.every((file) => file !== undefined) ? found : null;
}

function unsupported(reason: string): DomainError {
  return new DomainError('model_unsupported', `The model cannot be run. ${reason}`);
}

/** A dtype that is not there is the request's fault; anything else the repository's. */
function asUnsupported(error: unknown): unknown {
  if (!(error instanceof DomainError) || error.code !== 'invalid_value' || error.param === 'dtype') return error;
  return unsupported(error.message.replace("'source.path'", 'The repository'));
}
