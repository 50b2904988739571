import { join } from 'node:path';
import { encoderLayout, readGraph, rowsInterfere, type EncoderLayout } from '../../graphs/index.js';
import { readEncoderFiles } from '../encoding/encoder-files.js';
import type { EncoderInfo, EncoderSpec } from '../encoding/encoding-engine.js';
import type { ProviderChoice } from '../execution-provider.js';
import { readTokenizer } from '../generation/token-decoder.js';
import { chooseProvider } from './choose-provider.js';
import { GraphForms } from './graph-forms.js';
import { OnnxEncoder } from './onnx-encoder.js';
import { namingFile } from './open-graph.js';
import { RUNTIME_SESSIONS, type OnnxSession, type SessionFactory } from './session.js';

/** What an encoder uses of the package's tokenizer. */
export interface PairTokenizer {
  encode(
    text: string,
    options: { text_pair?: string; add_special_tokens: boolean; return_token_type_ids: boolean },
  ): { ids: number[]; token_type_ids?: number[] };
}

/** Texts of one run at most; past that a CPU gains nothing. */
const BATCH_ROWS = 32;

/** Opens an encoder's folder. Throws DomainError model_load_failed with a message that names file, operator or input. */
export async function openEncoder(
  spec: EncoderSpec,
  progress: (fraction: number) => void,
  sessions: SessionFactory = RUNTIME_SESSIONS,
): Promise<{ encoder: OnnxEncoder; info: EncoderInfo }> {
  const files = await readEncoderFiles(spec.directory);
  const { tokenizer } = await readTokenizer(spec.directory);
  progress(0.2);
  const { provider, use } = await chooseProvider(spec.provider, sessions);
  const { session, layout, interfering, warnings } = await openGraph(spec, provider, sessions);
  const batchRows = interfering ? 1 : BATCH_ROWS;
  const pairTokenizer = tokenizer as unknown as PairTokenizer;
  const isRerank = spec.task === 'rerank';
  // A score is no vector.
  const asScore = isRerank ? { normalize: false, warnings: [] } : {};
  const contextLength = Math.min(files.contextLength, spec.contextLength ?? Infinity);
  const own = { ...files, ...asScore, contextLength };
  const encoder = new OnnxEncoder({ session, layout, files: own, tokenizer: pairTokenizer, batchRows });
  const info: EncoderInfo = {
    contextLength,
    dimensions: layout.size,
    shorterDimensions: isRerank ? null : files.shorterDimensions,
    normalized: own.normalize,
    batchRows,
    residentBytes: process.memoryUsage.rss(),
    exact: null,
    provider: use,
    warnings: [...own.warnings, ...warnings],
  };
  return { encoder, info };
}

interface OpenedGraph {
  session: OnnxSession;
  layout: EncoderLayout;
  interfering: boolean;
  warnings: string[];
}

async function openGraph(spec: EncoderSpec, provider: ProviderChoice, sessions: SessionFactory): Promise<OpenedGraph> {
  const path = join(spec.directory, spec.graphFile);
  const { task, threads } = spec;
  try {
    const facts = readGraph(path);
    // Before the runtime reads the weights.
    encoderLayout(facts, task);
    const int8Activations = provider.name === 'cpu' && spec.activations === 'int8';
    const forms = new GraphForms(path, { int8Activations, lastPositions: false });
    // The runtime's inner object may not be what it was: the public API then says whether the file is at fault.
    const { session, warning } = await forms
      .open((source) => sessions.openNative(source, { threads, provider }))
      .catch(() => forms.open((source) => sessions.openPublic(source, { threads, provider })));
    const interfering = rowsInterfere(facts.operators);
    const warnings = warning === null ? [] : [warning];
    return { session, layout: encoderLayout(session, task), interfering, warnings };
  } catch (cause) {
    throw namingFile(spec, cause as Error);
  }
}
