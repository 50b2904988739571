import ts from 'typescript';
import { declarationOf } from './declarations.js';
import { readRepositoryFile } from './source-files.js';

const BLOCK = /<!-- code: (\S+) -->\n```(\w*)\n(?:(?!```)[^\n]*\n)*```/g;

/**
 * A page whose marked blocks hold what is in tested files: `<!-- code: examples/a.ts#Name -->` is a declaration,
 * `…#Class.member` one of its members, a path alone the whole file.
 */
export function withQuotedCode(page: string): string {
  return page.replaceAll(BLOCK, (_, place: string, language: string) => {
    return `<!-- code: ${place} -->\n\`\`\`${language}\n${quoted(place)}\n\`\`\``;
  });
}

function quoted(place: string): string {
  const [path = '', symbol] = place.split('#');
  if (symbol === undefined) return readRepositoryFile(path).trimEnd();
  const [name = '', member] = symbol.split('.');
  const { file, node } = declarationOf(path, name);
  if (member === undefined) return textOf(file, node);
  const found = (node as ts.ClassDeclaration).members.find((each) =>
    ts.isConstructorDeclaration(each) ? member === 'constructor' : each.name?.getText(file) === member,
  );
  if (!found) throw new Error(`${path}: ${name} has no ${member}`);
  return textOf(file, found);
}

/** With its comment, and without its indentation. */
function textOf(file: ts.SourceFile, node: ts.Node): string {
  const start = node.getStart(file, true);
  const indent = start - (file.text.lastIndexOf('\n', start - 1) + 1);
  return file.text.slice(start, node.end).replaceAll(`\n${' '.repeat(indent)}`, '\n');
}
