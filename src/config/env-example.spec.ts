import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderEnvExample } from './env-example.js';

describe('.env.example', () => {
  it('is what the table of settings renders', () => {
    const file = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
    expect(file).toBe(renderEnvExample());
  });
});
