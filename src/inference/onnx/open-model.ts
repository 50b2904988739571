import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { DomainError } from '../../errors/index.js';
import type { KernelRules } from '../generation/kernel-rules.js';
import { loadTokenDecoder, readModelJson } from '../generation/token-decoder.js';
import type { TokenDecoder } from '../generation/text-assembler.js';
import type { EngineModelInfo, ModelSpec } from '../inference-engine.js';
import { readGraph, textLayout, type TextLayout } from '../../graphs/index.js';
import { OnnxLanguageModel, type KvMode } from './onnx-language-model.js';
import { measureKernels, type Kernels } from './kernel-canary.js';
import { runtimeVersion } from './runtime-version.js';
import { worksInPlace } from './self-test.js';
import { openNative, openPublic, type OnnxSession } from './session.js';

export interface OpenedModel {
  model: OnnxLanguageModel;
  decoder: TokenDecoder;
  /** Rows that may run together. */
  rows: number;
  rules: KernelRules;
  info: EngineModelInfo;
}

/** Raised with every change of sampler, detokeniser, stop scan or prefill plan that can change an output. */
const GENERATION_VERSION = 2;

/** Opens a model's folder. Throws DomainError model_load_failed with a message that names file, operator or input. */
export async function openModel(spec: ModelSpec, progress: (fraction: number) => void): Promise<OpenedModel> {
  const contextLength = await contextLengthOf(spec);
  progress(0.05);
  const decoder = await loadTokenDecoder(spec.directory);
  progress(0.15);
  const { session, layout, kvMode } = await openGraph(spec);
  progress(0.9);
  const mostRows = layout.cacheKind === 'concat' ? 1 : spec.rows;
  const kernels = await measureKernels(session, layout, { kvMode, contextLength, rows: mostRows });
  progress(0.95);
  const { rows, rules } = plan(mostRows, spec, kernels);
  // A lone row may need the place beside it for its partner.
  const model = new OnnxLanguageModel(session, layout, { rows: Math.max(rows, 2), contextLength, kvMode });
  const info: EngineModelInfo = {
    digest: spec.digest ?? '',
    contextLength,
    vocabularySize: model.vocabularySize,
    kvMode,
    endTokenIds: [...decoder.endTokenIds],
    residentBytes: process.memoryUsage.rss(),
    fingerprint: await fingerprint([spec.digest ?? '', kvMode, kernels]),
    kernelClasses: kernels.classes,
    exact: {
      resume: kernels.repeatable,
      batchInvariant: kernels.repeatable && (kernels.classes !== 2 || rules.alwaysBatch),
    },
    warnings: decoder.warnings,
  };
  return { model, decoder, rows, rules, info };
}

/** By config.json, else by genai_config.json; the spec may only bound it. */
async function contextLengthOf({ directory, contextLength: bound }: ModelSpec): Promise<number> {
  const genai = await readModelJson(directory, 'genai_config.json', 'optional');
  const needsConfig = Object.keys(genai).length === 0;
  const config = await readModelJson(directory, 'config.json', needsConfig ? 'required' : 'optional');
  const stated =
    config['max_position_embeddings'] ?? (genai['model'] as Record<string, unknown> | undefined)?.['context_length'];
  if (typeof stated !== 'number' || !Number.isInteger(stated) || stated < 2) {
    throw new DomainError(
      'model_load_failed',
      'config.json: max_position_embeddings is missing or not a number of tokens',
    );
  }
  return Math.min(stated, bound ?? stated);
}

/** More than two kernel classes: no row can be decoded again as it was, so each has the model to itself (ENGINE 2.8). */
function plan(rows: number, spec: ModelSpec, { classes, chunksEqual }: Kernels): { rows: number; rules: KernelRules } {
  const loneRowDiffers = classes === 2;
  return {
    rows: classes > 2 ? 1 : rows,
    rules: { loneRowDiffers, alwaysBatch: loneRowDiffers && spec.batchInvariant === true, fixedChunks: !chunksEqual },
  };
}

async function openGraph(spec: ModelSpec): Promise<{ session: OnnxSession; layout: TextLayout; kvMode: KvMode }> {
  const path = join(spec.directory, spec.graphFile);
  try {
    const facts = readGraph(path);
    const layoutOf = ({ inputs, outputs }: OnnxSession): TextLayout => textLayout({ ...facts, inputs, outputs });
    // Before the runtime reads gigabytes of weights.
    const { cacheKind } = textLayout(facts);
    const native = openNativeIfPossible(path, spec.threads);
    if (native) {
      const layout = layoutOf(native);
      if (cacheKind === 'concat') return { session: native, layout, kvMode: 'copying' };
      if (await worksInPlace(native, layout)) return { session: native, layout, kvMode: 'in-place' };
      await native.dispose();
    }
    const session = await openPublic(path, { threads: spec.threads });
    return { session, layout: layoutOf(session), kvMode: 'copying' };
  } catch (cause) {
    // Messages of the system and the runtime name files by full path; the reader of a task has no use for it.
    const reason = (cause as Error).message.replaceAll(spec.directory, '.');
    throw new DomainError('model_load_failed', `${spec.graphFile}: ${reason}`, { cause });
  }
}

/** Null when the runtime's inner object is not what it was: the public API then says whether the file is at fault. */
function openNativeIfPossible(path: string, threads: number): OnnxSession | null {
  try {
    return openNative(path, { threads });
  } catch {
    return null;
  }
}

/** Digest of what decides the bits of a result on this machine (ENGINE 4.7). */
async function fingerprint(measured: unknown[]): Promise<string> {
  const facts = [
    runtimeVersion(),
    'cpu',
    process.platform,
    process.arch,
    await processorFlags(),
    ...measured,
    GENERATION_VERSION,
  ];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}

/** The instruction sets choose the kernels; where the system does not list them, the processor's name stands in. */
async function processorFlags(): Promise<string> {
  const listed = await readFile('/proc/cpuinfo', 'utf8').catch(() => '');
  return /^(?:flags|Features)\s*:\s*(.*)$/m.exec(listed)?.[1] ?? cpus()[0]?.model ?? '';
}
