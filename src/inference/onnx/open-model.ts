import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { DomainError } from '../../errors/index.js';
import type { KernelRules } from '../generation/kernel-rules.js';
import type { LanguageModel } from '../generation/language-model.js';
import { PrefixModel } from '../generation/prefix-model.js';
import { GRAMMAR_VERSION } from '../constraint/output-grammar.js';
import { loadTokenDecoder, readModelJson } from '../generation/token-decoder.js';
import type { TokenDecoder } from '../generation/text-assembler.js';
import type { EngineModelInfo, ModelSpec } from '../inference-engine.js';
import { EDIT_VERSION } from '../../graphs/index.js';
import { chooseProvider } from './choose-provider.js';
import { OnnxLanguageModel } from './onnx-language-model.js';
import { openGraph } from './open-graph.js';
import { measureKernels, type Kernels } from './kernel-canary.js';
import { runtimeVersion } from './runtime-version.js';
import { RUNTIME_SESSIONS, type SessionFactory } from './session.js';

export interface OpenedModel {
  model: LanguageModel;
  decoder: TokenDecoder;
  /** Rows that may run together. */
  rows: number;
  rules: KernelRules;
  info: EngineModelInfo;
}

/** Raised with every change of sampler, detokeniser, stop scan or prefill plan that can change an output. */
const GENERATION_VERSION = 3;

const FORGETS = 'it does not reuse the beginnings of prompts: behind one, a prompt has other bits than as a whole';

/** Opens a model's folder. Throws DomainError model_load_failed with a message that names file, operator or input. */
export async function openModel(
  spec: ModelSpec,
  progress: (fraction: number) => void,
  sessions: SessionFactory = RUNTIME_SESSIONS,
): Promise<OpenedModel> {
  const contextLength = await contextLengthOf(spec);
  progress(0.05);
  const decoder = await loadTokenDecoder(spec.directory);
  progress(0.15);
  const { provider, use } = await chooseProvider(spec.provider, sessions);
  // A graphics card has kernels of its own, which the level does not choose.
  const activations = provider.name === 'cpu' ? (spec.activations ?? 'file') : 'file';
  const { session, layout, kvMode, warnings } = await openGraph({ ...spec, activations, provider }, sessions);
  progress(0.9);
  const mostRows = layout.cacheKind === 'concat' ? 1 : spec.rows;
  const { prefixCacheBytes = 0 } = spec;
  const canary = { kvMode, contextLength, rows: mostRows, prefixes: prefixCacheBytes > 0 };
  const { prefixesEqual, ...kernels } = await measureKernels(session, layout, canary);
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
    fingerprint: await fingerprint([
      spec.digest ?? '',
      kvMode,
      kernels,
      activations,
      EDIT_VERSION,
      provider.name,
      provider.deviceId,
    ]),
    kernelClasses: kernels.classes,
    exact: {
      resume: kernels.repeatable,
      batchInvariant: kernels.repeatable && (kernels.classes !== 2 || rules.alwaysBatch),
    },
    provider: use,
    warnings: [...decoder.warnings, ...warnings, ...(prefixesEqual === false ? [FORGETS] : [])],
  };
  const { blockRows } = model;
  const remembering = prefixesEqual && blockRows ? new PrefixModel(model, blockRows, prefixCacheBytes) : model;
  return { model: remembering, decoder, rows, rules, info };
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
function plan(
  rows: number,
  spec: ModelSpec,
  { classes, chunksEqual }: Omit<Kernels, 'prefixesEqual'>,
): { rows: number; rules: KernelRules } {
  const loneRowDiffers = classes === 2;
  return {
    rows: classes > 2 ? 1 : rows,
    rules: { loneRowDiffers, alwaysBatch: loneRowDiffers && spec.batchInvariant === true, fixedChunks: !chunksEqual },
  };
}

/** Digest of what decides the bits of a result on this machine (ENGINE 4.7). */
async function fingerprint(measured: unknown[]): Promise<string> {
  const facts = [
    runtimeVersion(),
    process.platform,
    process.arch,
    await processorFlags(),
    ...measured,
    GENERATION_VERSION,
    GRAMMAR_VERSION,
  ];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}

/** The instruction sets choose the kernels; where the system does not list them, the processor's name stands in. */
async function processorFlags(): Promise<string> {
  const listed = await readFile('/proc/cpuinfo', 'utf8').catch(() => '');
  return /^(?:flags|Features)\s*:\s*(.*)$/m.exec(listed)?.[1] ?? cpus()[0]?.model ?? '';
}
