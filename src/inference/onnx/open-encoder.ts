import { join } from 'node:path';
import { DomainError } from '../../errors/index.js';
import { encoderLayout, readGraph, rowsInterfere, type EncoderLayout } from '../../graphs/index.js';
import { readEncoderFiles } from '../encoding/encoder-files.js';
import type { EncoderInfo, EncoderSpec } from '../encoding/encoding-engine.js';
import { readTokenizer } from '../generation/token-decoder.js';
import { OnnxEncoder } from './onnx-encoder.js';
import { openNative, openPublic, type OnnxSession } from './session.js';

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
): Promise<{ encoder: OnnxEncoder; info: EncoderInfo }> {
  const files = await readEncoderFiles(spec.directory);
  const { tokenizer } = await readTokenizer(spec.directory);
  progress(0.2);
  const { session, layout, interfering } = await openGraph(spec);
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
    warnings: own.warnings,
  };
  return { encoder, info };
}

async function openGraph(
  spec: EncoderSpec,
): Promise<{ session: OnnxSession; layout: EncoderLayout; interfering: boolean }> {
  const path = join(spec.directory, spec.graphFile);
  try {
    const facts = readGraph(path);
    // Before the runtime reads the weights.
    encoderLayout(facts, spec.task);
    const session = await openSession(path, spec.threads);
    return { session, layout: encoderLayout(session, spec.task), interfering: rowsInterfere(facts.operators) };
  } catch (cause) {
    // Messages of the system and the runtime name files by full path; the reader of an error has no use for it.
    const reason = (cause as Error).message.replaceAll(spec.directory, '.');
    throw new DomainError('model_load_failed', `${spec.graphFile}: ${reason}`, { cause });
  }
}

/** The public API where the runtime's inner object is not what it was; it then says whether the file is at fault. */
async function openSession(path: string, threads: number): Promise<OnnxSession> {
  try {
    return openNative(path, { threads });
  } catch {
    return openPublic(path, { threads });
  }
}
