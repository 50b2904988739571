import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let root = '';

/** One folder for all temporary files of a test run, its child processes included. Called by vitest. */
export function setup(): void {
  root = mkdtempSync(join(tmpdir(), 'lmsp-tests-'));
  process.env.TMPDIR = root;
}

/** Takes it away at the end of the run. */
export function teardown(): void {
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
