import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { environmentWith } from './environment.js';

describe('the environment of a service that lmsp starts', () => {
  it('has what npm start gives one, and gives way to what is set', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
    const given = [...scripts.start.matchAll(/([A-Z_]+)=\$\{\1:-(\w+)\}/g)].map(([, name, value]) => [name, value]);
    expect(given.map(([name]) => name)).toEqual(['UV_THREADPOOL_SIZE', 'MALLOC_ARENA_MAX']);
    for (const [name] of given) vi.stubEnv(name!, undefined);
    expect(environmentWith({})).toMatchObject(Object.fromEntries(given) as object);
    vi.stubEnv('MALLOC_ARENA_MAX', '4');
    expect(environmentWith({ LMSP_PORT: '0' })).toMatchObject({ MALLOC_ARENA_MAX: '4', LMSP_PORT: '0' });
    vi.unstubAllEnvs();
  });
});
