import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as tokenizers from '@huggingface/tokenizers';
import { DomainError } from '../../errors/index.js';
import { Vocabulary } from '../constraint/vocabulary.js';
import type { TokenDecoder } from './text-assembler.js';

type Json = Record<string, unknown>;

/** What is used of the package's tokenizer; its own declarations do not resolve under nodenext. */
export interface Tokenizer {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: number[] };
  decode(ids: number[], options: { skip_special_tokens: boolean; clean_up_tokenization_spaces: boolean }): string;
  token_to_id(token: string): number | undefined;
  id_to_token(id: number): string | undefined;
  get_added_tokens_decoder(): Map<number, { special: boolean; content: string }>;
  /** Applied to what lies between added tokens. */
  normalizer: ((text: string) => string) | null;
  get_vocab(withAddedTokens: boolean): Map<string, number>;
}
const TokenizerClass = tokenizers.Tokenizer as unknown as new (content: Json, config: Json) => Tokenizer;

/** A JSON object of a model's folder; empty when an optional file is not there. Throws DomainError model_load_failed. */
export async function readModelJson(directory: string, file: string, presence: 'required' | 'optional'): Promise<Json> {
  let text: string;
  try {
    text = await readFile(join(directory, file), 'utf8');
  } catch (cause) {
    if (presence === 'optional' && (cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new DomainError('model_load_failed', `${file} cannot be read`, { cause });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  } catch {
    // Falls through: both cases are the same fault to the reader of the message.
  }
  throw new DomainError('model_load_failed', `${file} is not a JSON object`);
}

/** The tokenizer of a model's folder (Hugging Face layout). Throws DomainError model_load_failed. */
export async function readTokenizer(directory: string): Promise<{ tokenizer: Tokenizer; config: Json; content: Json }> {
  const config = await readModelJson(directory, 'tokenizer_config.json', 'optional');
  const content = await readModelJson(directory, 'tokenizer.json', 'required');
  try {
    return { tokenizer: new TokenizerClass(content, config), config, content };
  } catch (cause) {
    throw new DomainError('model_load_failed', `tokenizer.json: ${(cause as Error).message}`, { cause });
  }
}

/**
 * What the text side of a model needs to know. End tokens are the union of generation_config.json (a number or a
 * list), config.json, genai_config.json and the tokenizer's own, because real models name theirs in any one of them.
 */
export async function loadTokenDecoder(directory: string): Promise<TokenDecoder & { warnings: string[] }> {
  const { tokenizer, config, content } = await readTokenizer(directory);
  const genai = await readModelJson(directory, 'genai_config.json', 'optional');
  const endTokenIds = new Set<number>([
    ...numbers((await readModelJson(directory, 'generation_config.json', 'optional'))['eos_token_id']),
    ...numbers((await readModelJson(directory, 'config.json', 'optional'))['eos_token_id']),
    ...numbers((genai['model'] as Json | undefined)?.['eos_token_id']),
    ...numbers(tokenizer.token_to_id(tokenContent(config['eos_token']))),
  ]);
  const hiddenTokenIds = new Set(endTokenIds);
  for (const [id, token] of tokenizer.get_added_tokens_decoder()) if (token.special) hiddenTokenIds.add(id);
  let size = 0;
  for (const id of tokenizer.get_vocab(true).values()) size = Math.max(size, id + 1);
  return {
    decode: (ids) => tokenizer.decode(ids, { skip_special_tokens: true, clean_up_tokenization_spaces: false }),
    endTokenIds,
    hiddenTokenIds,
    spelling: (id) => tokenizer.get_added_tokens_decoder().get(id)?.content,
    size,
    vocabulary: new Vocabulary(tokenizer, content, endTokenIds),
    warnings: endTokenIds.size > 0 ? [] : ['the model names no end token: every output runs to its token limit'],
  };
}

/** Token settings are a string or an object with `content`. */
function tokenContent(value: unknown): string {
  if (typeof value === 'string') return value;
  const content = (value as { content?: unknown } | null | undefined)?.content;
  return typeof content === 'string' ? content : '';
}

function numbers(value: unknown): number[] {
  return [value].flat().filter((item): item is number => Number.isInteger(item));
}
