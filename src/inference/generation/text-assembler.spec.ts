import { copyFile, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextAssembler, type AssembledStep, type TokenDecoder } from './text-assembler.js';
import { loadTokenDecoder } from './token-decoder.js';

const POCKET = fileURLToPath(new URL('../../../models/pocket', import.meta.url));
const END = 999;
const HIDDEN = 998;

/** Ids 0..255 are bytes, so that any text can be cut anywhere. */
const bytes: TokenDecoder = {
  decode: (ids) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(ids)),
  endTokenIds: new Set([END, 997]),
  hiddenTokenIds: new Set([END, HIDDEN, 997]),
  size: 1000,
};

interface Settings {
  decoder?: TokenDecoder;
  stop?: string[];
  limit?: number;
}

function assemble(ids: number[], { decoder = bytes, stop = [], limit = ids.length }: Settings = {}): AssembledStep[] {
  const assembler = new TextAssembler(decoder, stop, limit);
  const steps: AssembledStep[] = [];
  for (const id of ids) {
    steps.push(assembler.push(id));
    if (steps.at(-1)!.finish) break;
  }
  return steps;
}
const textOf = (steps: AssembledStep[]): string => steps.map((step) => step.text).join('');
const utf8 = (text: string): number[] => [...Buffer.from(text)];

describe('text out of tokens (BL-20)', () => {
  it.each(['😀', '👨‍👩‍👧‍👦', '漢字', 'größer', 'नमस्ते', '\ufeffmark', 'a\ufffdb'])('is %j, one byte at a time', (text) => {
    const steps = assemble(utf8(text));
    expect(textOf(steps)).toBe(text);
    if (!text.includes('\ufffd')) for (const step of steps) expect(step.text).not.toContain('\ufffd');
  });

  it('comes out character by character, not at the end', () => {
    expect(assemble(utf8('a😀b')).map((step) => step.text)).toEqual(['a', '', '', '', '😀', 'b']);
  });

  it('shows a lone bad byte as U+FFFD and is not held up by it', () => {
    const steps = assemble([...utf8('ab'), 0xff, ...utf8('cd')]);
    expect(steps.map((step) => step.text)).toEqual(['a', 'b', '', '\ufffdc', 'd']);
  });

  it('is not held up by many bad bytes either, and keeps the character that follows them', () => {
    const steps = assemble([...new Array<number>(40).fill(0xff), ...utf8('😀')]);
    expect(textOf(steps)).toBe('\ufffd'.repeat(40) + '😀');
    expect(textOf(steps.slice(0, 20)).length).toBeGreaterThan(10);
  });

  it('shows an unfinished character when the output ends', () => {
    const [first, second] = assemble([0xf0, 0x9f]);
    expect([first!.text, second!.text, second!.finish]).toEqual(['', '\ufffd', 'limit']);
    expect(textOf(assemble([0xf0, END]))).toBe('\ufffd');
  });

  it('joined is the decoding of all ids, for any ids of the embedded model and any bytes', async () => {
    const decoder = await loadTokenDecoder(POCKET);
    const whole = (ids: number[], using: TokenDecoder): string => {
      const visible = ids.filter((id) => !using.hiddenTokenIds.has(id));
      return visible.length > 0 ? using.decode(visible) : '';
    };
    const check = (ids: number[], using: TokenDecoder): void => {
      const seen = assemble(ids, { decoder: { ...using, endTokenIds: new Set() } });
      expect(textOf(seen)).toBe(whole(ids, using));
    };
    // The first ids are single bytes, many of them parts of characters: as likely as all the others together.
    const pocketId = fc.oneof(fc.nat(decoder.size - 1), fc.nat(270));
    fc.assert(
      fc.property(fc.array(pocketId, { minLength: 1, maxLength: 60 }), (ids) => check(ids, decoder)),
      { numRuns: 3000 },
    );
    fc.assert(
      fc.property(fc.array(fc.nat(255), { minLength: 1, maxLength: 60 }), (ids) => check(ids, bytes)),
      { numRuns: 3000 },
    );
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(text, (each) => check(utf8(each), bytes)),
      { numRuns: 1000 },
    );
  });

  it('has no U+FFFD in any piece when the whole has none', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), (text) => {
        fc.pre(!/[\ufffd\p{Surrogate}]/u.test(text));
        for (const step of assemble(utf8(text))) expect(step.text).not.toContain('\ufffd');
      }),
    );
  });

  it('leaves special tokens out, between two bytes of a character too', () => {
    expect(textOf(assemble([0xc3, HIDDEN, 0xa4]))).toBe('ä');
  });
});

describe('stop strings in tokens (BL-22)', () => {
  it('end the output before them, with no part of them in any step', () => {
    const steps = assemble(utf8('say END_OF it'), { stop: ['END_OF'] });
    expect(textOf(steps)).toBe('say ');
    expect(steps.at(-1)).toMatchObject({ finish: 'stop', text: '', index: 9 });
  });

  it('are held back and come out with the last step when the limit or an end token comes first', () => {
    expect(assemble(utf8('xEN'), { stop: ['END'] }).at(-1)).toMatchObject({ text: 'EN', finish: 'limit' });
    expect(assemble([...utf8('xEN'), END], { stop: ['END'] }).at(-1)).toMatchObject({ text: 'EN', finish: 'stop' });
  });

  it('are found in a character that only the end of the output completes', () => {
    expect(assemble([97, 0xff], { stop: ['\ufffd'] }).at(-1)).toMatchObject({ text: '', finish: 'stop' });
  });
});

describe('end tokens (BL-23)', () => {
  it.each([END, 997])('any of the list ends the output: %d; its text is not in it', (id) => {
    const steps = assemble([...utf8('hi'), id, ...utf8('more')]);
    expect(textOf(steps)).toBe('hi');
    expect(steps.at(-1)).toEqual({ index: 2, tokenId: id, text: '', finish: 'stop' });
  });

  it('as the first token give an empty output', () => {
    expect(assemble([END])).toEqual([{ index: 0, tokenId: END, text: '', finish: 'stop' }]);
  });

  it('win over the limit when both come at once, and nothing may follow', () => {
    const assembler = new TextAssembler(bytes, [], 1);
    expect(assembler.push(END).finish).toBe('stop');
    expect(() => assembler.push(1)).toThrow('ended');
  });
});

describe('what a model folder says about end tokens (BL-23)', () => {
  async function folder(files: Record<string, unknown>): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'lmsp-model-'));
    await copyFile(join(POCKET, 'tokenizer.json'), join(directory, 'tokenizer.json'));
    for (const [name, content] of Object.entries(files))
      await writeFile(join(directory, name), JSON.stringify(content));
    return directory;
  }

  it.each<[string, Record<string, unknown>, number[]]>([
    [
      'one in config.json and a list in generation_config.json',
      { 'config.json': { eos_token_id: 2 }, 'generation_config.json': { eos_token_id: [2, 0] } },
      [0, 2],
    ],
    ['config.json alone', { 'config.json': { eos_token_id: 2 } }, [2]],
    ['a bare number in generation_config.json', { 'generation_config.json': { eos_token_id: 0 } }, [0]],
    ['the tokenizer alone', { 'tokenizer_config.json': { eos_token: { content: '<|im_end|>' } } }, [2]],
    ['null', { 'config.json': { eos_token_id: null } }, []],
    ['none at all', {}, []],
  ])('%s', async (_, files, ids) => {
    const decoder = await loadTokenDecoder(await folder(files));
    expect([...decoder.endTokenIds].sort()).toEqual(ids);
    expect(decoder.warnings).toHaveLength(ids.length === 0 ? 1 : 0);
    for (const id of ids) expect(decoder.hiddenTokenIds).toContain(id);
  });

  it('refuses a broken tokenizer by name', async () => {
    const directory = await folder({});
    await writeFile(join(directory, 'tokenizer.json'), '{');
    await expect(loadTokenDecoder(directory)).rejects.toMatchObject({
      code: 'model_load_failed',
      message: /tokenizer\.json/,
    });
  });
});
