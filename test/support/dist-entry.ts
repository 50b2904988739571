import { join } from 'node:path';
import { packageRoot } from '../../src/config/index.js';

/** Path of a compiled entry file, for tests that start a real child process or worker. `npm test` builds first. */
export function distEntry(path: string): string {
  return join(packageRoot(), 'dist/src', path);
}
