import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packageRoot } from '../config/index.js';

/** Packages of which a process must have one copy: what one says of a class, another does not know. */
const PEERS = ['@nestjs/common', '@nestjs/core', 'typeorm', 'reflect-metadata', 'lmsp-service'] as const;

/**
 * What is wrong with the packages that an extension would import, or null. One that it does not find, or that is the very copy
 * of the service, is fine.
 * @param file of the extension
 * @param ours where the service's copy of a package is; found out by default
 */
export function foreignPeer(file: string, ours: (name: string) => string | null = ownPeer): string | null {
  const theirs = createRequire(file);
  for (const name of PEERS) {
    const [found, own] = [folderOf(theirs, name), ours(name)];
    if (found === null || own === null || found === own) continue;
    return `it would import ${name} from ${found}, and the service has its own in ${own}; remove that copy, and install the extension beside the service with ${name} as a peer dependency`;
  }
  return null;
}

function ownPeer(name: string): string | null {
  if (name === 'lmsp-service') return realpathSync(packageRoot());
  return folderOf(createRequire(join(packageRoot(), 'from-here.js')), name);
}

/** Real folder of a package as it is found from somewhere; null: it is not. */
function folderOf(from: NodeJS.Require, name: string): string | null {
  for (const folder of from.resolve.paths(name) ?? []) {
    const found = join(folder, ...name.split('/'));
    if (existsSync(join(found, 'package.json'))) return realpathSync(found);
  }
  return null;
}
