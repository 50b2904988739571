import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { Ballast, type BallastState } from '../../../src/database/ballast.js';
import { temporaryDirectory } from '../../support/store.js';

const BYTES = 3_000_001;

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await temporaryDirectory();
  file = join(folder, 'ballast');
});

async function laid(bytes = BYTES): Promise<Ballast> {
  const ballast = await Ballast.find(file, bytes);
  await ballast.lay();
  return ballast;
}

describe('the ballast (HOUSE 4.8)', () => {
  test('takes up real room of its size, readable by its owner only', async () => {
    expect((await laid()).state).toBe('kept');
    const { size, blocks, mode } = await stat(file);
    expect([size, mode & 0o777]).toEqual([BYTES, 0o600]);
    expect(blocks * 512, 'no hole').toBeGreaterThanOrEqual(BYTES);
  });

  test('is left alone by the next start, and brought to its size where a kill or a new setting left another', async () => {
    await laid();
    const before = (await stat(file)).mtimeMs;
    await laid();
    expect((await stat(file)).mtimeMs).toBe(before);
    await writeFile(file, 'cut short');
    await laid();
    expect((await stat(file)).size).toBe(BYTES);
    await laid(1000);
    expect((await stat(file)).size).toBe(1000);
  });

  test('0 keeps none and takes an old one away', async () => {
    await laid();
    const ballast = await laid(0);
    expect([ballast.state, await readdir(folder)]).toEqual(['off', []]);
    await ballast.giveUp();
    await ballast.restore();
    await ballast.requireRoom();
    expect([ballast.state, await readdir(folder)]).toEqual(['off', []]);
  });

  test('is given up once and put back once, and each is told', async () => {
    const ballast = await laid();
    const told: BallastState[] = [];
    ballast.onChange = (state) => told.push(state);
    await Promise.all([ballast.giveUp(), ballast.giveUp()]);
    expect(await readdir(folder)).toEqual([]);
    await Promise.all([ballast.restore(), ballast.restore()]);
    expect((await stat(file)).size).toBe(BYTES);
    expect(told).toEqual(['given_up', 'kept']);
  });
});
