import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { readRepositoryFile } from './source-files.js';

/** The names that a file exports from elsewhere; those of types end in `: type`. */
function exportsOf(path: string): string[] {
  const file = ts.createSourceFile(path, readRepositoryFile(path), ts.ScriptTarget.Latest, true);
  return file.statements.flatMap((statement) => {
    if (!ts.isExportDeclaration(statement) || !statement.exportClause)
      return [`not allowed: ${statement.getText(file)}`];
    if (!ts.isNamedExports(statement.exportClause)) return [`not allowed: ${statement.getText(file)}`];
    return statement.exportClause.elements.map(
      ({ name, isTypeOnly }) => `${name.text}${isTypeOnly || statement.isTypeOnly ? ': type' : ''}`,
    );
  });
}

describe('what extensions may rely on (HOUSE 3.3)', () => {
  it('src/index.ts: a name that comes or goes is a line of CHANGELOG.md (vitest -u writes the list)', async () => {
    await expect(`${exportsOf('src/index.ts').sort().join('\n')}\n`).toMatchFileSnapshot('./sdk-names.txt');
  });

  it('package.json lets nothing else be imported', () => {
    const { exports } = JSON.parse(readRepositoryFile('package.json')) as { exports: Record<string, unknown> };
    expect(Object.keys(exports)).toEqual(['.', './testing', './package.json']);
  });
});
