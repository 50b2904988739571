import { describe, expect, it } from 'vitest';
import type { ProviderChoice } from '../../src/inference/index.js';
import { openEncoder } from '../../src/inference/onnx/open-encoder.js';
import { openModel } from '../../src/inference/onnx/open-model.js';
import { nativeOptions, RUNTIME_SESSIONS, type SessionFactory } from '../../src/inference/onnx/session.js';
import { POCKET, realEngine } from './pocket.js';
import { POCKET_EMBED } from './encoders.js';
import { Recording, request } from './recording.js';

const CUDA: ProviderChoice = { name: 'cuda', deviceId: 3, fallback: false };
const none = (): void => undefined;

/** A machine with a card, as far as can be told without one: the runtime's processor computes, options are kept. */
function withCard(): { sessions: SessionFactory; options: object[] } {
  const options: object[] = [];
  const sessions: SessionFactory = {
    openNative: (graph, { provider, ...rest }) => {
      options.push(nativeOptions(graph, { provider, ...rest }));
      return RUNTIME_SESSIONS.openNative(graph, rest);
    },
    openPublic: (graph, { provider: _, ...rest }) => RUNTIME_SESSIONS.openPublic(graph, rest),
  };
  return { sessions, options };
}

describe('a graphics card that is asked for and not there', () => {
  it('fails the load, says what is missing and what to do, and leaves others alone', async () => {
    const engine = realEngine();
    const [other] = await Promise.all([
      engine.open(POCKET),
      expect(engine.open({ ...POCKET, provider: CUDA })).rejects.toMatchObject({
        code: 'model_load_failed',
        message: expect.stringMatching(/^cuda \(device 3\) cannot be used: .+ Install its libraries/s) as string,
      }),
    ]);
    const run = new Recording(other, request([1, 2, 3], { maxOutputTokens: 4 }));
    expect(await run.ended).toMatchObject({ outcome: 'finished' });
    await other.close();
  });

  it('is stood in for by the processor where that was allowed, and the model says why', async () => {
    const model = await realEngine().open({ ...POCKET, provider: { ...CUDA, fallback: true } });
    const plain = await realEngine().open(POCKET);
    expect(model.info.provider).toEqual({
      used: 'cpu',
      reason: expect.stringContaining('cuda (device 3) cannot be used') as string,
    });
    expect(plain.info.provider).toEqual({ used: 'cpu', reason: null });
    expect(model.info.fingerprint, 'what was computed on the processor stays its own').toBe(plain.info.fingerprint);
    await Promise.all([model.close(), plain.close()]);
  });

  it('fails the load of an encoder likewise', async () => {
    await expect(openEncoder({ ...POCKET_EMBED, provider: CUDA }, none)).rejects.toMatchObject({
      code: 'model_load_failed',
      message: expect.stringContaining('cuda (device 3) cannot be used') as string,
    });
  });
});

describe('a graphics card (a double of it)', () => {
  it('is told its number, keeps its cache by copying, and has a fingerprint of its own', async () => {
    const { sessions, options } = withCard();
    const { info } = await openModel({ ...POCKET, provider: CUDA, activations: 'int8' }, none, sessions);
    expect(options.length).toBeGreaterThan(1);
    for (const each of options) {
      expect(each).toMatchObject({ executionProviders: [{ name: 'cuda', deviceId: 3 }, { name: 'cpu' }] });
    }
    expect(info).toMatchObject({ kvMode: 'copying', provider: { used: 'cuda', reason: null } });
    const other = await openModel({ ...POCKET, provider: { ...CUDA, deviceId: 4 } }, none, sessions);
    const onCpu = await openModel(POCKET, none);
    expect(onCpu.info.kvMode).toBe('in-place');
    expect(new Set([info, other.info, onCpu.info].map(({ fingerprint }) => fingerprint)).size).toBe(3);
  });

  it('is told its number by an encoder', async () => {
    const { sessions, options } = withCard();
    const { info } = await openEncoder({ ...POCKET_EMBED, provider: CUDA }, none, sessions);
    expect(options).toContainEqual(
      expect.objectContaining({ executionProviders: [{ name: 'cuda', deviceId: 3 }, { name: 'cpu' }] }),
    );
    expect(info.provider).toEqual({ used: 'cuda', reason: null });
  });
});

describe('the engine fingerprint (ENGINE 4.7)', () => {
  it('differs with the level of activations', async () => {
    const [file, int8] = await Promise.all([
      openModel(POCKET, none),
      openModel({ ...POCKET, activations: 'int8' }, none),
    ]);
    expect(int8.info.fingerprint).not.toBe(file.info.fingerprint);
  });
});

describe('a graph that cannot be opened in its edited form', () => {
  it('is used as its file has it, and says so', async () => {
    const refusing: SessionFactory = {
      ...RUNTIME_SESSIONS,
      openNative: (graph, options) => {
        if ('bytes' in graph) throw new Error('no models from memory here');
        return RUNTIME_SESSIONS.openNative(graph, options);
      },
    };
    const { info } = await openModel(POCKET, none, refusing);
    expect(info.kvMode).toBe('in-place');
    expect(info.warnings).toContain('the graph is used as its file has it: no models from memory here');
  });
});
