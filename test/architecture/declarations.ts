import { posix } from 'node:path';
import ts from 'typescript';
import { readRepositoryFile } from './source-files.js';

/** A declaration at the top of a file. */
export interface Declaration {
  /** From the root of the repository. */
  path: string;
  file: ts.SourceFile;
  node: ts.Statement;
}

const parsed = new Map<string, ts.SourceFile>();

export function parse(path: string): ts.SourceFile {
  const known = parsed.get(path);
  if (known) return known;
  const file = ts.createSourceFile(path, readRepositoryFile(path), ts.ScriptTarget.Latest, true);
  parsed.set(path, file);
  return file;
}

/** The names that a file exports, each where it is declared, in the file's order. */
export function exportedDeclarations(path: string): Map<string, Declaration> {
  const found = new Map<string, Declaration>();
  for (const statement of parse(path).statements) {
    if (!ts.isExportDeclaration(statement) || !statement.moduleSpecifier || !statement.exportClause) continue;
    if (!ts.isNamedExports(statement.exportClause)) continue;
    const from = targetOf(path, statement.moduleSpecifier as ts.StringLiteral);
    for (const { name, propertyName } of statement.exportClause.elements) {
      found.set(name.text, declarationOf(from, (propertyName ?? name).text));
    }
  }
  return found;
}

/** Where a name is declared that a file exports, followed through re-exports. Throws if it is nowhere. */
export function declarationOf(path: string, name: string): Declaration {
  const own = parse(path).statements.find((statement) => namesOf(statement).includes(name));
  if (own) return { path, file: parse(path), node: own };
  const elsewhere = exportedDeclarations(path).get(name);
  if (!elsewhere) throw new Error(`${path} has no ${name}`);
  return elsewhere;
}

function namesOf(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => (ts.isIdentifier(name) ? name.text : ''));
  }
  const { name } = statement as { name?: ts.Node };
  return name !== undefined && ts.isIdentifier(name) && !ts.isExportDeclaration(statement) ? [name.text] : [];
}

function targetOf(path: string, specifier: ts.StringLiteral): string {
  return posix.join(posix.dirname(path), specifier.text).replace(/\.js$/, '.ts');
}
