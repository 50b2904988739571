import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { declaredDigest, digestOf, isLoaderFile } from './model-files.js';

const graph = 'onnx/model.onnx';
const a = 'a'.repeat(64);
const b = 'b'.repeat(64);

describe('the digest of a model (WIRE B2)', () => {
  it('is SHA-256 over the lines "<sha256>  <path>" sorted by path, whatever order the files come in', () => {
    const lines = `${b}  config.json\n${a}  ${graph}\n`;
    const expected = `sha256:${createHash('sha256').update(lines).digest('hex')}`;
    const files = [
      { path: graph, sha256: a },
      { path: 'config.json', sha256: b },
    ];
    expect(digestOf(files)).toBe(expected);
    expect(digestOf(files.reverse())).toBe(expected);
  });

  it.each([
    graph,
    `${graph}_data`,
    `${graph}_data_1`,
    'tokenizer.json',
    'chat_template.jinja',
    '1_Pooling/config.json',
  ])('covers %s', (path) => expect(isLoaderFile(path, graph)).toBe(true));

  it.each(['MODEL_CARD.md', 'SHA256SUMS', 'onnx/model_q4.onnx', 'onnx/model_q4.onnx_data', 'onnx/config.json'])(
    'leaves out %s: the loader does not read it',
    (path) => expect(isLoaderFile(path, graph)).toBe(false),
  );

  it('that SHA256SUMS declares counts the same files only', () => {
    const sums = `${b}  config.json\n${b}  MODEL_CARD.md\nnot a line\n${a}  ${graph}\n`;
    const files = [
      { path: graph, sha256: a },
      { path: 'config.json', sha256: b },
    ];
    expect(declaredDigest(sums, graph)).toBe(digestOf(files));
  });
});
