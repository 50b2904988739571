import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../../src/config/index.js';
import type { Mutation } from './mutations.js';

/** A copy of the compiled service with a mutation in it. */
export interface Mutant {
  /** Its entry. */
  main: string;
  remove(): Promise<void>;
}

/** Throws when a patch does not fit exactly once. */
export async function makeMutant({ patches }: Mutation): Promise<Mutant> {
  const root = packageRoot();
  const folder = await mkdtemp(join(tmpdir(), 'lmsp-mutant-'));
  for (const part of ['dist/src', 'dist/migrations'])
    await cp(join(root, part), join(folder, part), { recursive: true });
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  for (const name of ['node_modules', 'models']) await symlink(join(root, name), join(folder, name));
  for (const { file, from, to } of patches) {
    const path = join(folder, 'dist/src', file);
    const parts = (await readFile(path, 'utf8')).split(from);
    if (parts.length !== 2) throw new Error(`adapt mutations.ts: ${file} holds ${parts.length - 1} times: ${from}`);
    await writeFile(path, parts.join(to));
  }
  return {
    main: join(folder, 'dist/src/main.js'),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}
