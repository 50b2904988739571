import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { readSources, type SourceFile } from './source-files.js';

/** The demands of LMSP 1.0, chapter 11, by number: storage, rules, recovery at start. */
const DEMANDS = [
  ...['S1', 'S2a', 'S2b', 'S2c', 'S2d', 'S2e', 'S2f', 'S2g', 'S3'],
  ...['R1', 'R2', 'R3', 'R4', 'R5', 'R6'],
  ...['C1', 'C2', 'C3', 'C4'],
];
const DEMAND = /\b(?:S1|S2[a-g]|S3|R[1-6]|C[1-4])\b/g;
const NAMING = new Set(['it', 'test', 'describe']);

/** What the tests of a file are called, the titles of their groups included. */
function titlesOf({ path, source }: SourceFile): string[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && NAMING.has(callee(node.expression))) {
      const [title] = node.arguments;
      if (title && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))) titles.push(title.getText(file));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return titles;
}

/** `it` of `it(…)`, `it.each(…)(…)` and `it.runIf(…)(…)`. */
function callee(expression: ts.Expression): string {
  if (ts.isIdentifier(expression)) return expression.text;
  if (ts.isPropertyAccessExpression(expression) || ts.isCallExpression(expression))
    return callee(expression.expression);
  return '';
}

const demandsIn = (files: SourceFile[]): Set<string> =>
  new Set(files.flatMap(titlesOf).flatMap((title) => title.match(DEMAND) ?? []));

describe('chapter 11', () => {
  it('is covered: each of its demands is named by a test', () => {
    const named = demandsIn(readSources('src', 'test').filter(({ path }) => path.endsWith('.spec.ts')));
    expect(DEMANDS.filter((demand) => !named.has(demand))).toEqual([]);
  });

  it('is not covered by a comment, nor by another text', () => {
    const source = `// R1\nconst text = 'R2'; it('C1: moves', () => expect('C2').toBe('C2')); it.each([1])('%s (R3)', run);`;
    expect([...demandsIn([{ path: 'fixture.ts', source }])]).toEqual(['C1', 'R3']);
  });
});
