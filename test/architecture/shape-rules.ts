import type { SourceFile } from './source-files.js';

const MOST_LINES = 300;

/** Words that say nothing about what is in a file (HOUSE 8). */
const EMPTY_WORDS: readonly string[] = [
  'util',
  'utils',
  'helper',
  'helpers',
  'common',
  'shared',
  'base',
  'manager',
  'misc',
  'impl',
  'data',
  'info',
];

/** TypeORM's own word for what it connects to. */
const ORM_NAME = 'data-source';

/** What is wrong with a file's name and length (HOUSE 8). */
export function shapeViolations({ path, source }: SourceFile): string[] {
  const violations: string[] = [];
  const file = path.split('/').at(-1) ?? '';
  const empty = path
    .replace(ORM_NAME, '')
    .split(/[/.-]/)
    .filter((word) => EMPTY_WORDS.includes(word));
  for (const word of empty) violations.push(`${path}: "${word}" does not say what it is`);
  if (!/^[a-z0-9.-]+$/.test(file)) violations.push(`${path}: not in kebab-case`);
  const lines = source.split('\n').length - 1;
  if (lines > MOST_LINES) violations.push(`${path}: ${lines} lines, ${MOST_LINES} are allowed`);
  return violations;
}
