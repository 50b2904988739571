import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** One TypeScript file as the rules see it. */
export interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  path: string;
  source: string;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Text of a file of the repository. */
export function readRepositoryFile(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Every TypeScript file below the given folders. */
export function readSources(...folders: string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'))
      .sort()
      .map((path) => ({ path, source: readRepositoryFile(path) })),
  );
}

/** The file's text without its comments, which may well name what the rules forbid. */
export function codeOf({ path, source }: SourceFile): string {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  let code = '';
  let end = 0;
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(file);
    if (children.length > 0) return children.forEach(visit);
    const start = node.getStart(file);
    const gap = source.slice(end, start);
    code += gap.includes('\n') ? '\n' : gap === '' ? '' : ' ';
    code += source.slice(start, node.end);
    end = node.end;
  };
  visit(file);
  return code;
}

/** Specifiers of everything the file imports or re-exports, types and dynamic imports included. */
export function importsOf({ source }: SourceFile): string[] {
  return ts.preProcessFile(source, true, true).importedFiles.map(({ fileName }) => fileName);
}
