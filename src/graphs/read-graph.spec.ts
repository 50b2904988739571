import { copyFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { locationFault } from './external-file.js';
import { readGraph } from './read-graph.js';
import { textLayout } from './text-layout.js';

const POCKET = new URL('../../models/pocket/onnx/model.onnx', import.meta.url).pathname;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'graph-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('what a graph says of itself', () => {
  it('is read from its wire format', () => {
    const facts = readGraph(POCKET);
    expect(facts.externalFiles).toEqual([]);
    expect(facts.inputs.slice(0, 2)).toEqual([
      { name: 'input_ids', type: 'int64', shape: [-1, -1] },
      { name: 'attention_mask', type: 'int64', shape: [-1, -1] },
    ]);
    expect(textLayout(facts)).toMatchObject({ cacheKind: 'in-place', logitsType: 'float32', vocabularySize: 1024 });
  });

  it.each([1, 1000, 1_000_000])('is refused when the last %i bytes are missing (BL-33)', async (missing) => {
    const cut = join(folder, 'cut.onnx');
    await copyFile(POCKET, cut);
    await truncate(cut, (await readFile(POCKET)).length - missing);
    expect(() => readGraph(cut)).toThrow('it is cut off');
  });

  it.each([
    ['an empty file', ''],
    ['a web page', '<!doctype html><title>404</title>'],
    ['text', 'version https://git-lfs.github.com/spec/v1'],
  ])('is not found in %s', async (_, content) => {
    const path = join(folder, 'other.onnx');
    await writeFile(path, content);
    expect(() => readGraph(path)).toThrow(/^it (is|holds) /);
  });
});

describe('places of external data (BL-34)', () => {
  it.each(['model.onnx_data', 'weights/part-1.bin', 'a b'])('may be below the graph: %s', (location) => {
    expect(locationFault(location)).toBeNull();
  });

  it.each(['../../secret', '/etc/passwd', '..\\x', 'a/../b', './x', 'a//b', '', 'C:x', 'a\0b', 'a/'])(
    'may be nowhere else: %j',
    (location) => {
      expect(locationFault(location)).toContain('external data');
    },
  );
});
