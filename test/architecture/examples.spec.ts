import { describe, expect, it } from 'vitest';
import { importsOf, readRepositoryFile, readSources } from './source-files.js';

/** What an extension may rely on. */
const ALLOWED = ['lmsp-service', '@nestjs/common', 'typeorm', 'class-validator'];
const ALLOWED_IN_TESTS = [...ALLOWED, 'lmsp-service/testing', 'vitest'];

const sources = readSources('examples');

/** Lines of code: no imports, no blank lines. Comments count. */
function linesOf(source: string): number {
  const rest = source.replace(/^import [\s\S]*?;\n/gm, '');
  return rest.split('\n').filter((line) => line.trim() !== '').length;
}

describe('the examples', () => {
  it.each(sources.map(({ path }) => path))('%s imports nothing of ours but what is published', (path) => {
    const allowed = path.endsWith('.spec.ts') ? ALLOWED_IN_TESTS : ALLOWED;
    const foreign = importsOf({ path, source: readRepositoryFile(path) })
      .filter((name) => !name.startsWith('./') && !name.startsWith('node:'))
      .filter((name) => !allowed.includes(name));
    expect(foreign).toEqual([]);
  });

  it('an extension with entity, migration, recorder, route, scope, setting and retention rule takes sixty lines', () => {
    const { source = '' } = sources.find(({ path }) => path === 'examples/audit-extension/src/index.ts') ?? {};
    expect(linesOf(source)).toBeGreaterThan(0);
    expect(linesOf(source)).toBeLessThanOrEqual(60);
  });
});
