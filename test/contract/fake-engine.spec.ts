import { describe, expect, it } from 'vitest';
import { DomainError } from '../../src/errors/index.js';
import { STEP_WINDOW, type EngineModel } from '../../src/inference/index.js';
import { BROKEN, END, FakeEngine, type Piece } from '../support/fake-engine.js';
import { waitFor } from '../support/wait-for.js';
import { engineContract } from './engine-contract.js';
import { endlessRequest, Recording, request } from './recording.js';

const SPEC = { id: 'fake', directory: '/nowhere', graphFile: 'none', rows: 4, threads: 1 };

/** Endless when the request bans the end token, as the real model is. */
function* script(asked: { promptIds: number[]; sampling: { logitBias: Record<string, number> } }): Generator<Piece> {
  const first = asked.promptIds[0]!;
  const endless = '0' in asked.sampling.logitBias;
  for (let i = 0; endless || i < 5; i++) yield `${first}.${i % 50} `;
}

engineContract('scripted double', () =>
  Promise.resolve({
    engine: new FakeEngine({ tokens: script }),
    spec: SPEC,
    prompts: [[7, 8], [9], [10, 11, 12], [13], [14], [15]],
  }),
);

describe('the fake engine', () => {
  const open = (engine: FakeEngine): Promise<EngineModel> => engine.open(SPEC);

  it('holds between turns, where a cancel works, and lets counted turns pass', async () => {
    const engine = new FakeEngine({ tokens: script });
    const model = await open(engine);
    engine.hold('steps');
    const run = new Recording(model, endlessRequest(model, [1], 100));
    engine.step(3);
    await waitFor('three tokens', () => run.steps.length === 3);
    run.generation.cancel();
    expect(await run.ended).toEqual({ outcome: 'cancelled' });
    expect(run.steps).toHaveLength(3);
  });

  it('holds inside a run, where a cancel waits, between prefill chunks too', async () => {
    const engine = new FakeEngine({ tokens: script });
    const model = await open(engine);
    engine.hold('runs');
    const run = new Recording(
      model,
      endlessRequest(
        model,
        Array.from({ length: 600 }, () => 1),
        100,
      ),
    );
    await waitFor('the request to arrive', () => engine.requests.length === 1);
    run.generation.cancel();
    engine.release('runs');
    expect(await run.ended).toEqual({ outcome: 'cancelled' });
    expect(run.prefilled.length).toBeLessThanOrEqual(1);
    expect(run.steps).toEqual([]);
  });

  it('keeps a load waiting, lets it be given up, and refuses loads with a given error', async () => {
    const engine = new FakeEngine();
    engine.hold('loads');
    const given = new AbortController();
    const opening = engine.open(SPEC, { signal: given.signal });
    given.abort();
    await expect(opening).rejects.toMatchObject({ code: 'model_load_failed' });
    engine.release('loads');
    engine.failLoads(new DomainError('insufficient_resources', 'no memory'));
    await expect(open(engine)).rejects.toMatchObject({ code: 'insufficient_resources' });
    engine.failLoads(null);
    expect((await open(engine)).info.vocabularySize).toBe(4096);
  });

  it('kills all models as by accident', async () => {
    const engine = new FakeEngine({ tokens: script });
    const model = await open(engine);
    const run = new Recording(model, endlessRequest(model, [1], 100), { acknowledging: false });
    await waitFor('a step', () => run.steps.length > 0);
    engine.killAll();
    expect(await run.ended).toMatchObject({ outcome: 'lost' });
    expect(await model.gone).toMatchObject({ expected: false });
    expect(engine.models).toEqual([]);
  });

  it('is taken for dead when it reports nothing while it has work', async () => {
    const engine = new FakeEngine({ tokens: script, stallSeconds: 0.05 });
    const model = await open(engine);
    engine.hold('runs');
    const run = new Recording(model, request([1]));
    expect(await run.ended).toMatchObject({ outcome: 'lost', message: /no progress/ });
  });

  it('is not taken for dead while all its rows wait for the disk', async () => {
    const engine = new FakeEngine({ tokens: script, stallSeconds: 0.05 });
    const model = await open(engine);
    const paused = new Recording(model, endlessRequest(model, [1], 100), { acknowledging: false });
    await waitFor('a full window', () => paused.steps.length === STEP_WINDOW);
    const clock = await open(new FakeEngine({ tokens: script, stepDelayMs: 10 }));
    await new Recording(clock, endlessRequest(clock, [1], 20)).ended;
    expect(engine.models).toHaveLength(1);
    paused.acknowledging = true;
    paused.generation.acknowledge(STEP_WINDOW - 1);
    expect(await paused.ended).toEqual({ outcome: 'finished', finish: 'limit' });
  });

  it('fails one generation on logits that nothing can be drawn from, and no other', async () => {
    const engine = new FakeEngine({
      tokens: ({ promptIds }) => (promptIds[0] === 1 ? ['a', BROKEN] : ['a', 'b', 'c', END]),
    });
    const model = await open(engine);
    const [broken, sound] = [new Recording(model, request([1])), new Recording(model, request([2]))];
    expect(await broken.ended).toMatchObject({ outcome: 'failed', message: /NaN/ });
    expect(await sound.ended).toEqual({ outcome: 'finished', finish: 'stop' });
    expect(sound.text).toBe('abc');
  });

  it('refuses more waiting generations than its bound', async () => {
    const engine = new FakeEngine({ tokens: script, maxWaiting: 1 });
    const model = await engine.open({ ...SPEC, rows: 1 });
    const runs = [1, 2].map((id) => new Recording(model, endlessRequest(model, [id], 100)));
    expect(() => new Recording(model, request([3]))).toThrow(expect.objectContaining({ code: 'queue_full' }));
    await model.close();
    await Promise.all(runs.map((run) => run.ended));
  });
});
