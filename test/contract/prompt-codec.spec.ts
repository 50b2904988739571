import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { PromptCodec } from '../../src/inference/index.js';
import { distEntry } from '../support/dist-entry.js';
import { GOLDEN, POCKET, realCodec } from './pocket.js';

const { messages, promptIds } = GOLDEN[0]!;

/** The embedded model with another chat template. */
function modelWith(template: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'lmsp-text-'));
  for (const file of ['tokenizer.json', 'tokenizer_config.json'])
    cpSync(join(POCKET.directory, file), join(directory, file));
  writeFileSync(join(directory, 'chat_template.jinja'), template);
  return directory;
}
const LOOP = '{% for i in range(100000) %}';
const ENDLESS = `${LOOP.repeat(3)}${'{% endfor %}'.repeat(3)}`;
/** A list of a billion numbers. In a worker thread this ends the whole process, whatever its heap limit says. */
const GREEDY = '{% for i in range(1000000000) %}{% endfor %}';

describe('the prompt codec', () => {
  const codecs: PromptCodec[] = [];
  const start = (options: Parameters<typeof realCodec>[0] = {}): PromptCodec => {
    codecs.push(realCodec(options));
    return codecs.at(-1)!;
  };
  afterEach(async () => {
    await Promise.all(codecs.splice(0).map((codec) => codec.close()));
  });

  it('renders the template of tokenizer_config.json, or of a file of its own', async () => {
    const codec = start();
    expect((await codec.encodeChat(POCKET.directory, messages)).ids).toEqual(promptIds);
    const own = modelWith('{{ messages[0].content }}{{ eos_token }}');
    expect((await codec.encodeChat(own, [{ role: 'user', content: 'Hi' }])).ids).toEqual([
      ...(await codec.encodeText(own, 'Hi')),
      2,
    ]);
  });

  it.each([
    ['plain words', 'Hello, world!'],
    ['characters of several tokens', 'größer 漢字 😀 \n\t  x'],
    ['special tokens', '<|im_start|>user\nHi<|im_end|>'],
    ['nothing', ''],
  ])('decodes %s to what was encoded', async (_, text) => {
    const codec = start();
    const ids = await codec.encodeText(POCKET.directory, text);
    expect(await codec.decode(POCKET.directory, ids)).toBe(text);
  });

  it.each([[-1], [1.5], [4_000_000_000]])('names %s, which is no token of the model', async (id) => {
    const refused = start().decode(POCKET.directory, [1, 2, id]);
    await expect(refused).rejects.toMatchObject({ code: 'invalid_value', param: 'tokens[2]' });
  });

  it('begins a whole prompt with the start token where the tokenizer does, once', async () => {
    const codec = start();
    const directory = modelWith('');
    const change = (file: string, fields: object): void => {
      const path = join(directory, file);
      writeFileSync(path, JSON.stringify({ ...(JSON.parse(readFileSync(path, 'utf8')) as object), ...fields }));
    };
    const plain = await codec.encodeText(POCKET.directory, 'Hi');
    expect(await codec.encodeText(POCKET.directory, 'Hi', { asPrompt: true })).toEqual(plain);
    const startToken = '<|im_start|>';
    const single = [{ SpecialToken: { id: startToken, type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }];
    const special_tokens = { [startToken]: { id: startToken, ids: [1], tokens: [startToken] } };
    change('tokenizer.json', { post_processor: { type: 'TemplateProcessing', single, pair: single, special_tokens } });
    change('tokenizer_config.json', { bos_token: startToken });
    const asPrompt = true;
    expect(await codec.encodeText(directory, 'Hi', { asPrompt })).toEqual([1, ...plain]);
    expect(await codec.encodeText(directory, `${startToken}Hi`, { asPrompt })).toEqual([1, ...plain]);
    expect(await codec.encodeText(directory, 'Hi')).toEqual(plain);
  });

  it('sees a template that has changed since the last prompt', async () => {
    const codec = start();
    const directory = modelWith('a');
    const before = await codec.encodeChat(directory, messages);
    writeFileSync(join(directory, 'chat_template.jinja'), 'bb');
    expect(await codec.encodeChat(directory, messages)).not.toEqual(before);
  });

  it('refuses eight megabytes at once where the context is small, without counting them', async () => {
    const codec = start({ timeoutMs: 20_000 });
    const content = 'word '.repeat(1_600_000);
    const long = codec.encodeChat(POCKET.directory, [{ role: 'user', content }], { mostTokens: 2047 });
    await expect(long).rejects.toMatchObject({ code: 'context_length_exceeded', param: 'input' });
    await expect(long).rejects.toThrow(/at least \d+ tokens.*2048 tokens/);
    expect((await codec.encodeChat(POCKET.directory, messages, { mostTokens: 1 })).ids).toEqual(promptIds);
  });

  it('encodes text without adding special tokens', async () => {
    expect(await start().encodeText(POCKET.directory, '')).toEqual([]);
  });

  it('answers many prompts at once, each with its own ids', async () => {
    const codec = start();
    const answers = await Promise.all(
      GOLDEN.map((each) => codec.encodeChat(POCKET.directory, each.messages, { tools: each.tools })),
    );
    expect(answers.map(({ ids }) => ids)).toEqual(GOLDEN.map((each) => each.promptIds));
  });

  it('says that the template refused the messages', async () => {
    const refusing = modelWith('{{ raise_exception("roles must alternate") }}');
    await expect(start().encodeChat(refusing, messages)).rejects.toMatchObject({
      code: 'invalid_value',
      param: 'input',
      message: expect.stringContaining('roles must alternate') as string,
    });
  });

  it('ends a template that takes too long, and goes on with the next prompt', async () => {
    const codec = start({ timeoutMs: 3_000 });
    const endless = codec.encodeChat(modelWith(ENDLESS), messages);
    const next = codec.encodeChat(POCKET.directory, messages);
    await expect(endless).rejects.toMatchObject({ code: 'server_error', message: /3000 ms/ });
    expect((await next).ids).toEqual(promptIds);
  });

  it('loses the process of a template that takes all memory, and no other prompt that was with it', async () => {
    const codec = start();
    // The worker gets the first by itself and the others, which come meanwhile, in one message.
    const [first, greedy, next] = [POCKET.directory, modelWith(GREEDY), POCKET.directory].map((directory) =>
      codec.encodeChat(directory, messages),
    );
    await expect(greedy).rejects.toMatchObject({ code: 'server_error', message: /ended with/ });
    for (const encoded of [first, next]) expect((await encoded)!.ids).toEqual(promptIds);
  });

  it('does not spin on in a worker whose service was killed', async () => {
    const worker = fork(distEntry('inference/text/text-worker.js'), { execArgv: [] });
    const answer = once(worker, 'message');
    worker.send({ jobs: [{ kind: 'chat', directory: modelWith(ENDLESS), messages }], limitMs: 300 });
    expect((await answer)[0]).toMatchObject([{ error: { code: 'server_error' } }]);
    const ended = once(worker, 'exit');
    worker.disconnect();
    expect(await ended).toEqual([0, null]);
  });

  it('names the file when a model folder is broken, and refuses a model without a template', async () => {
    const codec = start();
    await expect(codec.encodeText('/nowhere', 'x')).rejects.toMatchObject({
      code: 'model_load_failed',
      message: /tokenizer\.json/,
    });
    const bare = mkdtempSync(join(tmpdir(), 'lmsp-text-'));
    cpSync(join(POCKET.directory, 'tokenizer.json'), join(bare, 'tokenizer.json'));
    await expect(codec.encodeChat(bare, messages)).rejects.toMatchObject({ code: 'invalid_value' });
    await expect(codec.encodeChat(modelWith('{% if %}'), messages)).rejects.toMatchObject({
      code: 'model_load_failed',
    });
  });

  it('bounds how many prompts wait, and refuses all of them when it closes', async () => {
    const codec = start({ maxWaiting: 1 });
    const busy = codec.encodeChat(modelWith(ENDLESS), messages);
    const waiting = codec.encodeText(POCKET.directory, 'x');
    await expect(codec.encodeText(POCKET.directory, 'y')).rejects.toMatchObject({ code: 'queue_full' });
    const refused = [busy, waiting].map((each) => expect(each).rejects.toMatchObject({ code: 'server_shutting_down' }));
    await codec.close();
    await Promise.all(refused);
    await expect(codec.encodeText(POCKET.directory, 'z')).rejects.toMatchObject({ code: 'server_shutting_down' });
  });
});
