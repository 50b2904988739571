import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTokenizer } from '../../src/inference/generation/token-decoder.js';
import { Vocabulary } from '../../src/inference/constraint/vocabulary.js';
import { uniform } from '../../src/inference/generation/random.js';
import { hasToken } from '../../src/inference/constraint/token-trie.js';
import { POCKET } from './pocket.js';

const ENDS = new Set([0, 1, 2]);

async function vocabulary(): Promise<Vocabulary> {
  const { tokenizer } = await readTokenizer(POCKET.directory);
  const content = JSON.parse(readFileSync(join(POCKET.directory, 'tokenizer.json'), 'utf8')) as Record<string, unknown>;
  return new Vocabulary(tokenizer, content, ENDS);
}

/** Tokens drawn at random among those allowed, until the output is whole or `most` have come. */
function run(held: ReturnType<Vocabulary['constraint']>, most: number, seed: number): number[] {
  const output = held.begin();
  const ids: number[] = [];
  while (!output.whole && ids.length < most) {
    const allowed = Array.from({ length: 1024 }, (_, id) => id).filter((id) => hasToken(output.allowed, id));
    const id = allowed[Math.floor(uniform(seed, ids.length) * allowed.length)] ?? 0;
    if (ENDS.has(id)) break;
    ids.push(id);
    output.take(id);
  }
  return ids;
}

describe('what a constraint costs is bounded', () => {
  it('a hostile pattern is given up on with an error, and the process goes on', async () => {
    const words = await vocabulary();
    const pattern = '^(?:(?:a{1,300}b{0,300}){1,300}(?:c|d{1,200}|[ce]{1,100}){1,300}){1,300}$';
    const schema = { type: 'string', pattern, maxLength: 9000 };
    let ended: unknown = null;
    try {
      run(words.constraint({ kind: 'json', schema }), 400, 1);
    } catch (error) {
      ended = error;
    }
    if (ended !== null) expect(ended).toMatchObject({ message: expect.stringContaining('too complex') as string });
    expect(run(words.constraint({ kind: 'json', schema: { type: 'boolean' } }), 20, 1).length).toBeGreaterThan(0);
  });

  it('long outputs go on when what was remembered has been forgotten', async () => {
    const schema = { type: 'array', items: { type: 'string', maxLength: 4000 }, minItems: 3, maxItems: 3 };
    const held = (await vocabulary()).constraint({ kind: 'json', schema });
    expect(run(held, 3000, 2).length).toBeGreaterThan(100);
  });
});
