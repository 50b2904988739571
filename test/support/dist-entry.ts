import { fileURLToPath } from 'node:url';

/** Path of a compiled entry file, for tests that start a real child process or worker. `npm test` builds first. */
export function distEntry(path: string): string {
  return fileURLToPath(new URL(`../../dist/src/${path}`, import.meta.url));
}
