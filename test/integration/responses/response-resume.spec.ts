import { afterEach, describe, expect, it } from 'vitest';
import type { KernelClass } from '../../../src/inference/index.js';
import { ResponseEvents } from '../../../src/responses/response-events.js';
import type { ResponseObject } from '../../../src/responses/response-object.js';
import { taskIdOf } from '../../../src/responses/response-store.js';
import { snapshotLine } from '../../../src/responses/token-log.js';
import { readSnapshot } from '../../../src/tasks/task-log.js';
import type { Piece } from '../../support/fake-engine.js';
import { FakeVocabulary } from '../../../src/testing/fake-vocabulary.js';
import { outputText } from '../../support/output-text.js';
import { ResponseLab, type ResponseLabOptions, type ResponseOptions } from '../../support/response-lab.js';
import { claimOf } from '../../support/task-lab.js';
import { waitFor } from '../../support/wait-for.js';

let lab: ResponseLab;
afterEach(async () => {
  expect(await lab.tasks.faults()).toEqual([]);
  await lab.close();
  expect(lab.models.taken, 'seats never leak').toBe(0);
});

const RESUME: ResponseOptions = { onRestart: 'resume' };
// Characters cut in two, a stop text that nearly matches, a step without text.
const PIECES = ['Gr', Uint8Array.of(0xc3), Uint8Array.of(0xb6), 'ße', ' EN', 'D', ' of', Uint8Array.of(0xff), '!'];
const STOPPED: ResponseOptions = { onRestart: 'resume', generation: { stop: ['END!'] } };
const script = { tokens: (): Piece[] => PIECES };

async function tokenLines(id: string, start = 0): Promise<string[]> {
  return readSnapshot(lab.tasks.store.reader, taskIdOf(id), start);
}

/** Runs a new response until `steps` of its tokens are on disk, then ends the process as kill -9 does. */
async function interrupted(steps: number, engine: ResponseLabOptions, options: ResponseOptions): Promise<string> {
  lab = await ResponseLab.open(engine);
  lab.engine.hold();
  const id = await lab.create(options);
  await lab.tasks.runner.start();
  // The first turn takes the prompt in and makes the first token.
  lab.engine.step(steps);
  await waitFor(`${steps} steps`, async () => (await tokenLines(id)).length === steps);
  if (steps === 0) await waitFor('a run', async () => (await lab.body(id)).status === 'in_progress');
  return id;
}

/** The next process: recovery, then take-up. */
async function restarted(engine: ResponseLabOptions): Promise<void> {
  const last = lab;
  lab = await lab.reopened(engine);
  last.engine.killAll();
  await lab.tasks.recovery.run(() => undefined);
  await lab.tasks.runner.start();
}

async function uninterrupted(
  engine: ResponseLabOptions,
  options: ResponseOptions,
): Promise<[ResponseObject, string[]]> {
  lab = await ResponseLab.open(engine);
  const id = await lab.create(options);
  await lab.tasks.runner.start();
  const response = await lab.ended(id);
  const lines = await tokenLines(id);
  await lab.close();
  return [response, lines];
}

/** All but what names this response and its attempts. */
function comparable({ output, usage, status, incomplete_details: details }: ResponseObject): unknown {
  return { output: output.map((item) => ({ ...item, id: '' })), usage, status, details };
}

describe('a response that is resumed', () => {
  it.each(Array.from({ length: PIECES.length + 1 }, (_, steps) => steps))(
    'invariant 11, BL-27: cut off behind %i tokens it equals the uninterrupted one in ids, text, items and usage',
    async (steps) => {
      const [whole, lines] = await uninterrupted(script, STOPPED);
      const id = await interrupted(steps, script, STOPPED);
      await restarted({ ...script, vocabulary: lab.engine.vocabulary });
      const response = await lab.ended(id);
      expect(comparable(response)).toEqual(comparable(whole));
      expect(await tokenLines(id)).toEqual(lines);
      expect(response.lmsp).toMatchObject({ attempt: 2, replayed_tokens: steps, on_restart: 'resume' });
      expect(await lab.tasks.task(taskIdOf(id))).toMatchObject({ startCount: 0, interruptions: 0 });
      // One in_progress snapshot more than without the interruption, with the partial output; no item is added twice.
      const log = (await lab.tasks.events(taskIdOf(id))).map(({ type }) => type);
      expect(log.filter((type) => type === 'response.in_progress')).toHaveLength(2);
      expect(log.filter((type) => type === 'response.output_item.added')).toHaveLength(1);
    },
  );

  it('BL-27: cut off again and again, at its first token and at each later one', async () => {
    const [whole, lines] = await uninterrupted(script, RESUME);
    const id = await interrupted(1, script, RESUME);
    for (let steps = 2; steps < PIECES.length; steps += 1) {
      const { vocabulary } = lab.engine;
      const last = lab;
      lab = await lab.reopened({ ...script, vocabulary });
      last.engine.killAll();
      lab.engine.hold();
      await lab.tasks.recovery.run(() => undefined);
      await lab.tasks.runner.start();
      // One turn for the prompt and the first token, one for each other of the log, one more for a new one.
      lab.engine.step(steps);
      await waitFor('a new step', async () => (await tokenLines(id)).length === steps);
    }
    await restarted({ ...script, vocabulary: lab.engine.vocabulary });
    expect(comparable(await lab.ended(id))).toEqual(comparable(whole));
    expect(await tokenLines(id)).toEqual(lines);
    expect((await lab.tasks.task(taskIdOf(id))).interruptions).toBe(0);
  });

  it('ENGINE 2.8: on a processor with two kernel classes each token is decoded again in the class it was decoded in', async () => {
    // The next word tells the whole past of the row: one token in the wrong class, and all later words differ.
    const word = (classes: readonly KernelClass[]): string =>
      `${classes.reduce((sum, kernelClass) => (sum * 3 + (kernelClass === 'alone' ? 1 : 2)) % 997, 1)} `;
    const engine = { next: word, loneRowDiffers: true };
    const limit = { onRestart: 'resume' as const, generation: { maxOutputTokens: 900 } };
    lab = await ResponseLab.open(engine);
    lab.engine.hold();
    const id = await lab.create(limit);
    await lab.tasks.runner.start();
    lab.engine.step(5);
    await waitFor('five alone', async () => (await tokenLines(id)).length === 5);
    const beside = await lab.create({ onRestart: 'fail', generation: { maxOutputTokens: 10 } });
    lab.tasks.runner.wake('response', 'fake');
    await waitFor('the other has ended', async () => {
      lab.engine.step(1);
      return (await lab.body(beside)).status === 'incomplete';
    });
    const shared = (await tokenLines(id)).length;
    lab.engine.step(5);
    await waitFor('some more alone', async () => (await tokenLines(id)).length >= shared + 5);
    await lab.tasks.journal.drained();
    const before = await tokenLines(id);
    expect(new Set(before.slice(1).map((line) => line.endsWith('b')))).toEqual(new Set([true, false]));

    await restarted({ ...engine, vocabulary: lab.engine.vocabulary });
    const response = await lab.ended(id);
    expect((await tokenLines(id)).slice(0, before.length)).toEqual(before);
    const classes = (await tokenLines(id))
      .slice(1)
      .map((line): KernelClass => (line.endsWith('b') ? 'batch' : 'alone'));
    const expected = Array.from({ length: 900 }, (_, i) => word(classes.slice(0, i))).join('');
    expect(outputText(response)).toBe(expected);
    expect(response.lmsp.replayed_tokens).toBe(before.length);
  });

  it('invariant 8: whose last token is on disk, but not its end, ends without another token', async () => {
    const id = await interrupted(PIECES.length, script, RESUME);
    const task = await lab.tasks.task(taskIdOf(id));
    const events = new ResponseEvents(id, task.startCount);
    for (const piece of ['Gr', '', 'ö', 'ße', ' EN', 'D', ' of', '\ufffd', '!'])
      events.next({ text: piece, finish: null });
    await lab.tasks.journal.append(claimOf(task), {
      events: events.next({ text: '', finish: 'stop' }),
      snapshot: snapshotLine(
        { index: PIECES.length, tokenId: 0, kernelClass: 'alone' },
        { fingerprint: '', cachedTokens: 0 },
      ),
    });
    await restarted({ ...script, vocabulary: lab.engine.vocabulary });
    const response = await lab.ended(id);
    expect(response).toMatchObject({ status: 'completed', usage: { output_tokens: PIECES.length + 1 } });
    expect(await tokenLines(id)).toHaveLength(PIECES.length + 1);
  });

  it('while it is taken up it shows the partial output, the attempt and the tokens it decodes again', async () => {
    const id = await interrupted(4, script, RESUME);
    const { vocabulary } = lab.engine;
    const partial = (await lab.body(id)).output;
    const last = lab;
    lab = await lab.reopened({ ...script, vocabulary });
    last.engine.killAll();
    lab.engine.hold();
    await lab.tasks.recovery.run(() => undefined);
    await lab.tasks.runner.start();
    await waitFor('take-up', async () => (await lab.body(id)).lmsp.attempt === 2);
    expect(await lab.body(id)).toMatchObject({
      status: 'in_progress',
      output: partial,
      usage: null,
      lmsp: { task_status: 'running', replayed_tokens: 4 },
    });
    lab.engine.release();
    await lab.ended(id);
  });
});

describe('a snapshot that is of no use (row 17)', () => {
  type Change = (engine: ResponseLabOptions, id: string) => Promise<ResponseLabOptions> | ResponseLabOptions;
  const insert = (id: string, payload: string): Promise<unknown> =>
    lab.tasks.write((tx) =>
      tx.execute(
        `INSERT INTO task_snapshots (task_id, start_count, last_sequence_number, payload) VALUES (?, 0, 1, ?)`,
        [taskIdOf(id), payload],
      ),
    );

  it.each<[string, string, Change]>([
    ['another engine', 'fingerprint', (engine) => ({ ...engine, fingerprint: 'another' })],
    ['other model files under the same name', 'digest', (engine) => ({ ...engine, digest: 'sha256:1' })],
    [
      'a processor that gives no bits twice',
      'exactness',
      (engine) => ({ ...engine, exact: { resume: false, batchInvariant: false } }),
    ],
    ['lines of another version', 'format', async (engine, id) => insert(id, '{"v":2}').then(() => engine)],
    ['ids beyond the vocabulary', 'format', async (engine, id) => insert(id, '99999999').then(() => engine)],
    [
      'tokens that yield another text than readers have seen',
      'output',
      (engine) => {
        const vocabulary = new FakeVocabulary(4096);
        for (let i = 0; i < PIECES.length; i += 1) vocabulary.idOf(`other${i}`);
        return { ...engine, vocabulary };
      },
    ],
  ])('BL-27: %s: a new start from empty output, told as "%s", never a mixture', async (_, reason, change) => {
    const id = await interrupted(4, script, RESUME);
    const seen = (await lab.body(id)).output[0]!.id;
    const { vocabulary } = lab.engine;
    const engine = await change({ ...script, vocabulary }, id);
    const last = lab;
    lab = await lab.reopened(engine);
    last.engine.killAll();
    const reasons: string[] = [];
    lab.tasks.notices.on('task.snapshot_unusable', (notice) => void reasons.push(notice.reason));
    await lab.tasks.recovery.run(() => undefined);
    await lab.tasks.runner.start();
    const response = await lab.ended(id);
    expect(reasons).toEqual([reason]);
    expect(response).toMatchObject({ status: 'completed', usage: { output_tokens: PIECES.length + 1 } });
    expect(outputText(response)).toBe('Größe END of\ufffd!');
    expect(response.output[0]!.id).not.toBe(seen);
    expect(response.lmsp.replayed_tokens).toBe(0);
    expect(await tokenLines(id, 1)).toHaveLength(PIECES.length + 1);
    const log = (await lab.tasks.events(taskIdOf(id))).map(({ payload }) => JSON.parse(payload) as { type: string });
    const queued = log.map(({ type }) => type).lastIndexOf('response.queued');
    expect(log[queued]).toMatchObject({ response: { output: [] } });
    expect(log[queued - 1], 'first where the table of 11.3 moves it').toMatchObject({ type: 'response.in_progress' });
  });
});
