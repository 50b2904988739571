import { describe, expect, it } from 'vitest';
import { alone, Bench, prompt, PROMPTS } from '../../../test/support/scheduler-bench.js';

describe('the scheduler', () => {
  it('keeps every row in its own cache, while rows of all lengths come, end and are cancelled', async () => {
    const bench = new Bench(3);
    PROMPTS.forEach((ids, i) => bench.add(`g${i}`, ids, 5 + 3 * i));
    for (const cancelled of ['g2', 'g5', 'g6']) {
      await bench.run(7);
      bench.scheduler.cancel(cancelled);
    }
    await bench.run();
    for (const [i, ids] of PROMPTS.entries()) {
      const expected = await alone(ids, 5 + 3 * i);
      const seen = bench.ids(`g${i}`);
      expect(seen, `g${i}`).toEqual(expected.slice(0, seen.length));
      if (bench.ends.get(`g${i}`)!.outcome === 'finished') expect(seen).toHaveLength(expected.length);
    }
    expect(bench.ends.size).toBe(PROMPTS.length);
    expect(Math.max(...bench.model.batches)).toBe(3);
  });

  it('makes at most one step of a row and one prefill chunk per turn, in one report', async () => {
    const bench = new Bench(4);
    PROMPTS.forEach((ids, i) => bench.add(`g${i}`, ids, 10));
    await bench.run();
    for (const report of bench.reports) {
      expect(new Set(report.steps.map(([id]) => id)).size).toBe(report.steps.length);
      expect(report.prefilled.length).toBeLessThanOrEqual(1);
    }
    expect(bench.reports.at(-1)!.idle).toBe(true);
  });

  it('lets decoding rows go on between the chunks of a long prompt', async () => {
    const bench = new Bench(2);
    bench.add('short', prompt(3), 50);
    await bench.run(2);
    const before = bench.ids('short').length;
    bench.add('long', prompt(500), 5);
    await bench.run(3);
    expect(bench.ids('long')).toEqual([]);
    expect(bench.ids('short').length).toBe(before + 3);
  });

  it('cuts a prompt smaller while others decode, by what its tokens take; it yields the same (ENGINE 4.4)', async () => {
    const bench = new Bench(2);
    bench.model.msPerToken = 1;
    bench.add('short', prompt(3), 30);
    await bench.run(1);
    bench.add('long', prompt(300), 5);
    await bench.run(3);
    bench.scheduler.cancel('short');
    await bench.run();
    const taken = bench.reports.flatMap(({ prefilled }) => prefilled.filter(([id]) => id === 'long'));
    expect(taken.map(([, tokens]) => tokens)).toEqual([64, 96, 128, 256, 300]);
    expect(bench.ids('long')).toEqual(await alone(prompt(300), 5));
  });

  it('fails the one row whose logits are unusable', async () => {
    const bench = new Bench(2);
    bench.add('broken', [15, 1, 2], 20);
    bench.add('sound', prompt(4), 20);
    await bench.run();
    expect(bench.ends.get('broken')).toMatchObject({
      outcome: 'failed',
      message: expect.stringContaining('NaN') as string,
    });
    expect(bench.ids('sound')).toEqual(await alone(prompt(4), 20));
  });

  it('fails the rows of a failed run; a prompt on its way goes on in its own cache', async () => {
    const bench = new Bench(3);
    bench.add('a', prompt(3), 50);
    bench.add('b', prompt(4), 50);
    await bench.run(4);
    bench.add('late', prompt(300), 5);
    await bench.run(1);
    bench.model.failing.add('decode');
    await bench.run(1);
    bench.model.failing.clear();
    await bench.run();
    expect(bench.ends.get('a')).toEqual({ outcome: 'failed', message: 'decode failed' });
    expect(bench.ends.get('b')).toEqual({ outcome: 'failed', message: 'decode failed' });
    expect(bench.ids('late')).toEqual(await alone(prompt(300), 5));
  });

  it('fails a prompt whose chunk fails, and takes the next', async () => {
    const bench = new Bench(1);
    bench.add('a', prompt(3), 5);
    bench.model.failing.add('prefill');
    await bench.run(1);
    bench.model.failing.clear();
    bench.add('b', prompt(3), 5);
    await bench.run();
    expect(bench.ends.get('a')).toEqual({ outcome: 'failed', message: 'prefill failed' });
    expect(bench.ends.get('b')).toEqual({ outcome: 'finished', finish: 'limit' });
  });

  it('drops a cancelled prompt between chunks and a waiting one before its first', async () => {
    const bench = new Bench(1);
    bench.add('long', prompt(600), 5);
    bench.add('waiting', prompt(3), 5);
    await bench.run(2);
    bench.scheduler.cancel('long');
    bench.scheduler.cancel('waiting');
    await bench.run();
    expect(bench.ends).toEqual(
      new Map([
        ['long', { outcome: 'cancelled' }],
        ['waiting', { outcome: 'cancelled' }],
      ]),
    );
    expect(bench.reports.flatMap((report) => report.prefilled)).toEqual([
      ['long', 128, 0],
      ['long', 256, 0],
    ]);
  });

  describe('a row that runs alone (WIRE B6, suspect)', () => {
    it('lets a prompt on its way end, then pauses all others until it is shared; nobody loses a token', async () => {
      const bench = new Bench(4);
      bench.add('a', prompt(3), 40);
      bench.add('b', prompt(5), 40);
      await bench.run(5);
      bench.add('long', prompt(300), 10);
      await bench.run(1);
      bench.add('lone', prompt(9), 30, undefined, true);
      bench.add('late', prompt(4), 5);
      await bench.run(20);
      const taken = bench.reports.findIndex(({ prefilled }) => prefilled.some(([id]) => id === 'lone'));
      const ids = new Set(bench.reports.slice(taken).flatMap(({ steps }) => steps.map(([id]) => id)));
      expect(ids, 'once it has a place').toEqual(new Set(['lone']));
      expect(bench.ids('long')).toHaveLength(1);
      expect(bench.ids('lone').length).toBeGreaterThan(8);
      bench.scheduler.share('lone');
      await bench.run();
      for (const [id, length, tokens] of [
        ['a', 3, 40],
        ['b', 5, 40],
        ['long', 300, 10],
        ['lone', 9, 30],
        ['late', 4, 5],
      ] as const) {
        expect(bench.ids(id), id).toEqual(await alone(prompt(length), tokens));
      }
    });

    it('waits for a place where all are taken: the others go on until it has one', async () => {
      const bench = new Bench(1);
      bench.add('a', prompt(3), 12);
      await bench.run(3);
      bench.add('late', prompt(4), 5);
      bench.add('lone', prompt(9), 6, undefined, true);
      await bench.run();
      expect([...bench.ends.keys()]).toEqual(['a', 'lone', 'late']);
      expect(bench.ids('lone')).toEqual(await alone(prompt(9), 6));
    });

    it('lets the others go on when it ends or is cancelled', async () => {
      const bench = new Bench(3);
      bench.add('a', prompt(3), 20);
      await bench.run(2);
      bench.add('ends', prompt(4), 3, undefined, true);
      await bench.run(6);
      bench.add('cancelled', prompt(5), 50, undefined, true);
      await bench.run(4);
      const before = bench.ids('a').length;
      await bench.run(2);
      expect(bench.ids('a')).toHaveLength(before);
      bench.scheduler.cancel('cancelled');
      await bench.run();
      expect(bench.ids('a')).toEqual(await alone(prompt(3), 20));
      expect(bench.ids('ends')).toEqual(await alone(prompt(4), 3));
    });

    it('decodes a token of its log in the class it was decoded in, beside paused rows', async () => {
      const rules = { loneRowDiffers: true, alwaysBatch: false, fixedChunks: false };
      const first = new Bench(3, rules);
      first.add('whole', prompt(5), 40);
      first.add('beside', prompt(3), 12);
      await first.run();
      const whole = first.steps.get('whole')!;
      expect(new Set(whole.map((step) => step.kernelClass))).toEqual(new Set(['alone', 'batch']));
      for (const neighbours of [0, 1, 2]) {
        const bench = new Bench(3, rules);
        for (let i = 0; i < neighbours; i += 1) bench.add(`n${i}`, prompt(4 + i), 30);
        await bench.run(4);
        const log = whole.slice(0, 30).map(({ tokenId, kernelClass }) => ({ tokenId, kernelClass }));
        bench.add('resumed', prompt(5), 40, log, true);
        await bench.run(60);
        expect(bench.ids('resumed').slice(0, 1), `${neighbours} beside it`).toEqual([whole[30]!.tokenId]);
        bench.scheduler.share('resumed');
        await bench.run();
        for (let i = 0; i < neighbours; i += 1) expect(bench.ends.get(`n${i}`)).toMatchObject({ outcome: 'finished' });
      }
    });
  });
});
