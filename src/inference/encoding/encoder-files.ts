import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError } from '../../errors/index.js';
import { readModelJson } from '../generation/token-decoder.js';
import { POOLINGS, type Pooling } from './pooling.js';

type Json = Record<string, unknown>;

/** What an encoder's folder says beside its graph (sentence-transformers' layout). */
export interface EncoderFiles {
  /** Tokens. */
  contextLength: number;
  pooling: Pooling;
  /** Vectors are brought to length 1. */
  normalize: boolean;
  shorterDimensions: readonly number[] | 'any' | null;
  padTokenId: number;
  lowerCase: boolean;
  warnings: string[];
}

/** Families whose positions start behind the one of the padding token. */
const SHIFTED_POSITIONS = ['roberta', 'xlm-roberta', 'camembert', 'mpnet', 'longformer'];
/** Files that know no limit say 1e30 or so. */
const NO_LIMIT = 1e9;

/** Throws DomainError model_load_failed, naming the file. */
export async function readEncoderFiles(directory: string): Promise<EncoderFiles> {
  const config = await readModelJson(directory, 'config.json', 'required');
  const sentence = await readModelJson(directory, 'sentence_bert_config.json', 'optional');
  const tokenizer = await readModelJson(directory, 'tokenizer_config.json', 'optional');
  return {
    contextLength: contextLengthOf(config, sentence, tokenizer),
    ...(await readPooling(directory)),
    shorterDimensions: shorterDimensionsOf(config),
    padTokenId: wholeNumber(config['pad_token_id']) ?? 0,
    lowerCase: sentence['do_lower_case'] === true,
  };
}

/** sentence-transformers' own limit comes before those of model and tokenizer, which may only be smaller. */
function contextLengthOf(config: Json, sentence: Json, tokenizer: Json): number {
  const shift = SHIFTED_POSITIONS.includes(String(config['model_type']))
    ? (wholeNumber(config['pad_token_id']) ?? 0) + 1
    : 0;
  const positions = wholeNumber(config['max_position_embeddings']);
  const stated = wholeNumber(sentence['max_seq_length']) ?? wholeNumber(tokenizer['model_max_length']);
  const limits = [stated, positions === null ? null : positions - shift].filter((limit) => limit !== null);
  const least = Math.min(...limits);
  if (least >= 1 && least < NO_LIMIT) return least;
  throw loadFailed('config.json: max_position_embeddings is missing or not a number of tokens');
}

async function readPooling(directory: string): Promise<Pick<EncoderFiles, 'pooling' | 'normalize' | 'warnings'>> {
  const modules = await readModules(directory);
  const pooling = poolingOf(await readModelJson(directory, '1_Pooling/config.json', 'optional'));
  return {
    pooling: pooling ?? 'mean',
    normalize: modules.includes('Normalize'),
    warnings: pooling ? [] : ['no 1_Pooling/config.json: the mean of all tokens is taken'],
  };
}

/** Names of the modules a text passes through; empty without modules.json. */
async function readModules(directory: string): Promise<string[]> {
  const entries = await readModuleList(directory);
  const names = entries.map(({ type }) => String(type).split('.').at(-1)!);
  const foreign = names.find((name) => !['Transformer', 'Pooling', 'Normalize'].includes(name));
  if (foreign !== undefined) throw loadFailed(`modules.json: the module ${foreign} is not supported`);
  const moved = entries.find(({ path }, i) => names[i] === 'Pooling' && path !== '1_Pooling');
  if (moved) throw loadFailed(`modules.json: the pooling must lie in 1_Pooling`);
  return names;
}

async function readModuleList(directory: string): Promise<{ type?: unknown; path?: unknown }[]> {
  try {
    const list: unknown = JSON.parse(await readFile(join(directory, 'modules.json'), 'utf8'));
    if (Array.isArray(list)) return list as { type?: unknown; path?: unknown }[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
  }
  throw loadFailed('modules.json is not a JSON array');
}

/** Old files have a switch for each kind, new ones a word; null: the file says nothing. */
function poolingOf(file: Json): Pooling | null {
  const chosen: string[] = POOLINGS.filter(
    (name) =>
      file[`pooling_mode_${name}`] === true ||
      file[`pooling_mode_${name}_token`] === true ||
      file[`pooling_mode_${name}_tokens`] === true,
  );
  if (chosen.length === 0) chosen.push(...[file['pooling_mode']].flat().map(String));
  const [pooling] = POOLINGS.filter((name) => name === chosen[0]);
  if (Object.keys(file).length === 0) return null;
  if (chosen.length === 1 && pooling) return pooling;
  throw loadFailed(`1_Pooling/config.json: the pooling ${chosen.join(' and ')} is not supported`);
}

/** Trained so that the first numbers of a vector are a good vector too (Matryoshka). */
function shorterDimensionsOf(config: Json): EncoderFiles['shorterDimensions'] {
  const listed = config['matryoshka_dimensions'];
  if (Array.isArray(listed)) return listed.filter((size): size is number => Number.isSafeInteger(size));
  return config['is_matryoshka'] === true ? 'any' : null;
}

function wholeNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) ? value : null;
}

function loadFailed(message: string): DomainError {
  return new DomainError('model_load_failed', message);
}
