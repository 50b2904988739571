import { describe, expect, it } from 'vitest';
import { EXIT } from './exit-codes.js';
import { wholeId } from './prefixes.js';

const A = 'task_01m8p21wrtxfxgxfh8101naktg';
const B = 'task_01m8p21wzzxfxgxfh8101naktg';

async function* ids(): AsyncGenerator<string> {
  yield* [A, B];
}
const find = (typed: string): Promise<string> => wholeId(typed, { prefix: 'task', otherNames: ['resp'] }, ids);

describe('an id by its prefix (OPERATE 1.2)', () => {
  it('is found by any unique 8 characters behind the _, with or without what stands before it', async () => {
    expect(await find('task_01m8p21wr')).toBe(A);
    expect(await find('01m8p21wz')).toBe(B);
    expect(await find('resp_01M8P21WZ')).toBe(B);
  });

  it('is not looked for when it is whole', async () => {
    const whole = `task_${'0'.repeat(26)}`;
    expect(await find(whole)).toBe(whole);
  });

  it.each([
    ['ambiguous', 'task_01m8p21w', EXIT.usage],
    ['short', 'task_01m8p21', EXIT.usage],
    ['of another kind', 'cli_01m8p21w', EXIT.usage],
    ['unknown', 'task_zzzzzzzz', EXIT.notFound],
  ])('is refused when it is %s', async (_what, typed, exitCode) => {
    await expect(find(typed)).rejects.toMatchObject({ exitCode });
  });

  it('names the candidates when it is ambiguous', async () => {
    await expect(find('task_01m8p21w')).rejects.toThrow(`${A}, ${B}`);
  });
});
