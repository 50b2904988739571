import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { CliError, UsageError } from '../cli-errors.js';
import { EXIT } from '../exit-codes.js';
import type { Session } from '../session.js';

export interface NewExtensionOptions {
  /** Folder to make; the extension's name in the current folder by default. */
  dir?: string;
}

/** What is copied lies in this package; its name is replaced in every way in which it is written. */
const TEMPLATE = 'examples/audit-extension';
const TEMPLATE_NAME = 'task-audit';
const TEMPLATE_RANGE = '^0.1.0';
const NOT_COPIED: readonly string[] = ['node_modules', 'dist'];

/** `lmsp extension new NAME`: a package that compiles, is tested and can be loaded, to change from there. */
export async function newExtension({ terminal }: Session, name: string, options: NewExtensionOptions): Promise<number> {
  const { extensionNameRule, isExtensionName, packageRoot, serviceVersion } = await import('../../config/index.js');
  if (!isExtensionName(name))
    throw new UsageError(`${name} is no name of an extension: it must be ${extensionNameRule}`);
  const folder = resolve(options.dir ?? name);
  await requireEmpty(folder);
  const template = join(packageRoot(), TEMPLATE);
  const renamed = renaming(name, serviceVersion());
  for (const file of await filesOf(template)) {
    const target = join(folder, relative(template, file));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, renamed(await readFile(file, 'utf8')));
  }
  await writeFile(join(folder, '.gitignore'), `${NOT_COPIED.map((each) => `${each}/\n`).join('')}`);
  terminal.line(folder);
  terminal.aside(`next: cd ${folder} && npm install && npm test`);
  return EXIT.done;
}

async function requireEmpty(folder: string): Promise<void> {
  const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new CliError(EXIT.refused, `${folder} cannot be used: ${error.message}`);
  });
  if (entries.length > 0) throw new CliError(EXIT.refused, `${folder} is not empty; nothing was written`);
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter(
      (file) =>
        !relative(folder, file)
          .split(sep)
          .some((part) => NOT_COPIED.includes(part)),
    );
}

/** `task-audit`, `task_audit`, `TASK_AUDIT`, `TaskAudit`, `taskAudit`, and what belongs to the time and the version. */
function renaming(name: string, version: string): (text: string) => string {
  const madeAt = String(Date.now());
  const pairs = waysToWrite(TEMPLATE_NAME).map((old, i) => [old, waysToWrite(name)[i] ?? name] as const);
  return (text) =>
    [...pairs, [TEMPLATE_RANGE, `^${version}`] as const]
      .reduce((renamed, [old, now]) => renamed.replaceAll(old, now), text)
      .replaceAll(/\b(Create\w+?)\d{13}\b/g, (_, migration: string) => `${migration}${madeAt}`);
}

function waysToWrite(name: string): string[] {
  const words = name.split('-');
  const pascal = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  const camel = pascal.charAt(0).toLowerCase() + pascal.slice(1);
  return [name, words.join('_'), words.join('_').toUpperCase(), pascal, camel, words.join(' ')];
}
