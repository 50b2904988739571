import { beforeEach, describe, expect, it } from 'vitest';
import { ModelRechecks } from '../../../src/models/model-rechecks.js';
import { waitFor } from '../../support/wait-for.js';
import { ManualClock } from './manual-clock.js';

let clock: ManualClock;
let rechecks: ModelRechecks;
let looks: { end: () => void }[];
const look = (): Promise<void> => new Promise((resolve) => looks.push({ end: resolve }));
const ask = (): Promise<void> => rechecks.ask('mine', look);

beforeEach(() => {
  clock = new ManualClock();
  rechecks = new ModelRechecks(clock);
  looks = [];
});

describe('looks at the files of a broken model', () => {
  it('are shared by all who ask meanwhile', async () => {
    const asked = [ask(), ask(), ask()];
    expect(looks).toHaveLength(1);
    looks[0]!.end();
    await Promise.all(asked);
    expect(clock.pending(), 'no wait is left').toEqual([]);
  });

  it('keep nobody waiting for a large model', async () => {
    const asked = ask();
    clock.advance(1500);
    await asked;
    void ask();
    expect(looks, 'the first is still on').toHaveLength(1);
  });

  it('take a tenth of the time at most, and at most one a second', async () => {
    const quick = ask();
    looks[0]!.end();
    await quick;
    await ask();
    clock.advance(999);
    await ask();
    expect(looks).toHaveLength(1);
    clock.advance(1);
    const slow = ask();
    clock.advance(5000);
    looks[1]!.end();
    await slow;
    await waitFor('the look to be over', async () => {
      await ask();
      return clock.pending().length === 0 || null;
    });
    clock.advance(44_999);
    await ask();
    expect(looks).toHaveLength(2);
    clock.advance(1);
    void ask();
    expect(looks).toHaveLength(3);
  });

  it('may fail without harm to who asks', async () => {
    await rechecks.ask('mine', () => Promise.reject(new Error('unreadable')));
  });
});
