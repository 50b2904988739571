import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/index.js';
import {
  ProcessEncodingEngine,
  type EncoderSpec,
  type ProcessEncodingEngineOptions,
} from '../../src/inference/index.js';
import { distEntry } from '../support/dist-entry.js';

/** The embedded encoder. */
export const POCKET_EMBED: EncoderSpec = {
  id: 'pocket-embed',
  task: 'embedding',
  directory: join(packageRoot(), 'models/pocket-embed'),
  graphFile: 'onnx/model.onnx',
  threads: 2,
};

/** The real encoders' engine as tests start it. */
export function realEncoders(options: Partial<ProcessEncodingEngineOptions> = {}): ProcessEncodingEngine {
  return new ProcessEncodingEngine({
    stallSeconds: 30,
    runnersDirectory: mkdtempSync(join(tmpdir(), 'lmsp-runners-')),
    ...options,
    entry: distEntry('inference/onnx/encoder-main.js'),
  });
}

export function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const dot = (x: ArrayLike<number>, y: ArrayLike<number>): number =>
    Array.from(x).reduce((sum, value, i) => sum + value * y[i]!, 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
