import { describe, expect, it } from 'vitest';
import { CODE_RULES, codeViolations, type CodeRule } from './code-rules.js';
import { shapeViolations } from './shape-rules.js';
import { codeOf, readSources } from './source-files.js';

const ofProduct = readSources('src').filter(({ path }) => !path.endsWith('.spec.ts'));
const all = readSources('src', 'migrations', 'test');

/** A path that the rule is about and that is none of its places. */
const pathFor = ({ within }: CodeRule): string => `${within ?? 'src/elsewhere/'}fixture.ts`;

const red = CODE_RULES.flatMap((rule) => rule.red.map((source) => ({ rule, name: rule.rule, source })));
const green = CODE_RULES.flatMap((rule) => rule.green.map((source) => ({ rule, name: rule.rule, source })));

describe('what code may contain', () => {
  it('is kept to by every source', () => {
    expect(ofProduct.flatMap((file) => codeViolations(file))).toEqual([]);
  });

  it.each(red)('$name: refuses $source', ({ rule, source }) => {
    expect(codeViolations({ path: pathFor(rule), source }, [rule])).toHaveLength(1);
  });

  it.each(green)('$name: accepts $source', ({ rule, source }) => {
    expect(codeViolations({ path: pathFor(rule), source }, [rule])).toEqual([]);
  });

  it.each(CODE_RULES.flatMap((rule) => (rule.places ?? []).map((place) => ({ rule, name: rule.rule, place }))))(
    '$name: has its place in $place, which exists',
    ({ rule, place }) => {
      const path = place.endsWith('/') ? `${place}fixture.ts` : place;
      expect(codeViolations({ path, source: rule.red[0] ?? '' }, [rule])).toEqual([]);
      expect(all.some((file) => file.path.startsWith(place))).toBe(true);
    },
  );
});

describe('names and lengths of files (HOUSE 8)', () => {
  it('are kept by every file', () => {
    expect(all.flatMap(shapeViolations)).toEqual([]);
  });

  it.each([
    ['src/tasks/task-helper.ts', '"helper"'],
    ['src/common/task.ts', '"common"'],
    ['src/tasks/task.util.spec.ts', '"util"'],
    ['src/tasks/taskRunner.ts', 'kebab-case'],
  ])('refuse %s', (path, complaint) => {
    expect(shapeViolations({ path, source: '' })).toEqual([expect.stringContaining(complaint)]);
  });

  it('refuse the 301st line and accept the 300th', () => {
    const path = 'src/tasks/task.ts';
    expect(shapeViolations({ path, source: 'a;\n'.repeat(301) })).toEqual([`${path}: 301 lines, 300 are allowed`]);
    expect(shapeViolations({ path, source: 'a;\n'.repeat(300) })).toEqual([]);
  });

  it('accept words that only contain an empty one', () => {
    expect(shapeViolations({ path: 'src/database/database.ts', source: '' })).toEqual([]);
  });
});

describe('the reader of code', () => {
  it('drops comments and keeps texts that look like them', () => {
    const source = [
      "const url = 'http://a'; // away",
      '/** away */ const text = `/* kept */ ${url} // kept`;',
      'const pattern = /[/*]away?/; /* away */',
    ].join('\n');
    const code = codeOf({ path: 'a.ts', source });
    expect(code.split('away')).toHaveLength(2);
    expect(code).toContain("'http://a'");
    expect(code).toContain('/* kept */ ${url} // kept');
    expect(code).toContain('/[/*]away?/');
  });
});
