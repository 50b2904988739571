import { afterEach, describe, expect, it } from 'vitest';
import type { OutputSyntax } from '../../../src/responses/output-syntax.js';
import type { OutputItem, ResponseObject } from '../../../src/responses/response-object.js';
import { taskIdOf } from '../../../src/responses/response-store.js';
import { readSnapshot } from '../../../src/tasks/index.js';
import { END, type Piece } from '../../support/fake-engine.js';
import { ResponseLab, type ResponseOptions } from '../../support/response-lab.js';
import { dirname } from 'node:path';
import { readStoreImage } from '../../support/store-image.js';
import { storedFaults } from '../../support/stored-logs.js';
import { waitFor } from '../../support/wait-for.js';

const CALL = ['<tool_', 'call>{"name": ', '"look", "argu', 'ments": {"at"', ': 1}', '}', '</tool_call>'];
const PIECES: Piece[] = ['<th', 'ink>We', 'll ', '</think>', '\n', 'Let', ' me. ', ...CALL, '\n', ...CALL, ' Done'];
const SYNTAX: OutputSyntax = {
  reasoning: 'possible',
  calls: {
    form: { open: '<tool_call>', close: '</tool_call>', argumentsKey: 'arguments' },
    names: ['look'],
    most: null,
  },
};
const ENGINE = { tokens: (): Piece[] => PIECES };

let lab: ResponseLab;
afterEach(() => lab.close());

const options = (syntax = SYNTAX): ResponseOptions => ({ onRestart: 'resume', generation: { syntax } });

async function whole(syntax = SYNTAX): Promise<ResponseObject> {
  lab = await ResponseLab.open(ENGINE);
  const id = await lab.create(options(syntax));
  await lab.tasks.runner.start();
  const response = await lab.ended(id);
  await lab.close();
  return response;
}

async function resumed(steps: number, syntax = SYNTAX): Promise<ResponseObject> {
  lab = await ResponseLab.open(ENGINE);
  lab.engine.hold();
  const id = await lab.create(options(syntax));
  await lab.tasks.runner.start();
  lab.engine.step(steps);
  await waitFor('the steps', async () => {
    return (await readSnapshot(lab.tasks.store.reader, taskIdOf(id), 0)).length >= steps;
  });
  const last = lab;
  lab = await lab.reopened(ENGINE);
  last.engine.killAll();
  await lab.tasks.recovery.run(() => undefined);
  await lab.tasks.runner.start();
  return lab.ended(id);
}

const nameless = ({ output, usage, status }: ResponseObject) => ({
  output: output.map((item: OutputItem) => ({ ...item, id: '', ...('call_id' in item && { call_id: '' }) })),
  usage,
  status,
});

describe('items of every kind', () => {
  it('WIRE B5: reasoning, text and calls, with the tokens of the reasoning counted', async () => {
    const { output, usage } = await whole();
    expect(output).toMatchObject([
      { type: 'reasoning', status: 'completed', summary: [{ type: 'summary_text', text: 'Well' }] },
      { type: 'message', status: 'completed', content: [{ text: 'Let me.' }] },
      { type: 'function_call', status: 'completed', name: 'look', arguments: '{"at": 1}' },
      { type: 'function_call', status: 'completed', name: 'look', arguments: '{"at": 1}' },
      { type: 'message', status: 'completed', content: [{ text: 'Done' }] },
    ]);
    expect(new Set(output.map(({ id }) => id)).size).toBe(5);
    expect(usage?.output_tokens_details.reasoning_tokens).toBe(3);
    expect(usage?.output_tokens).toBe(PIECES.length + 1);
  });

  it.each(Array.from({ length: PIECES.length }, (_, steps) => steps + 1))(
    'invariant 11: cut off behind %i tokens they are the same',
    async (steps) => {
      const expected = await whole();
      const response = await resumed(steps);
      expect(nameless(response)).toEqual(nameless(expected));
      const { tasks } = await readStoreImage(dirname(lab.tasks.store.file));
      expect([...tasks.values()].flatMap(storedFaults)).toEqual([]);
    },
  );

  it.each([12, 14, 16, 17])('end before a call too many, also when cut off behind %i tokens', async (steps) => {
    const one = { ...SYNTAX, calls: { ...SYNTAX.calls!, most: 1 } };
    const expected = await whole(one);
    expect(expected).toMatchObject({ status: 'completed', output: [{}, {}, { type: 'function_call' }] });
    expect(expected.output).toHaveLength(3);
    expect(nameless(await resumed(steps, one))).toEqual(nameless(expected));
  });

  it.each([3, 6, 11])('invariant 10: a cancel behind %i tokens leaves the open item incomplete', async (steps) => {
    lab = await ResponseLab.open(ENGINE);
    lab.engine.hold();
    const id = await lab.create(options());
    await lab.tasks.runner.start();
    lab.engine.step(steps);
    await waitFor('an open item', async () => (await lab.body(id)).output.at(-1)?.status === 'in_progress');
    await lab.tasks.cancellation.cancel(taskIdOf(id));
    const { status, output } = await lab.ended(id);
    expect([status, output.at(-1)?.status]).toEqual(['cancelled', 'incomplete']);
  });

  it('an empty answer is an empty message', async () => {
    lab = await ResponseLab.open({ tokens: () => [END] });
    const id = await lab.create(options());
    await lab.tasks.runner.start();
    expect((await lab.ended(id)).output).toMatchObject([{ type: 'message', content: [{ text: '' }] }]);
  });
});
