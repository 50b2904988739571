import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Template } from '@huggingface/jinja';
import { DomainError } from '../../errors/index.js';
import { readTokenizer, type Tokenizer } from '../generation/token-decoder.js';
import { ControlTokens, type ClientTexts } from './control-tokens.js';
import type { EncodedChat, ChatSyntax } from '../prompt-codec.js';
import { chatSyntaxOf, opensReasoning } from './chat-syntax.js';
import type { ChatJob, EncodeJob } from './text-protocol.js';
import { toldInText } from './tool-text.js';
import { leastTokens, longestToken } from './token-bound.js';

const FILES = ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja'];
const SPECIAL_TOKENS = ['bos_token', 'eos_token', 'unk_token', 'pad_token'];
/** Models kept open per worker. */
const CAPACITY = 4;

export interface ModelText {
  /** Size and time of the files it was made of. */
  stamp: string;
  tokenizer: Tokenizer;
  template: Template | null;
  specialTokens: Record<string, string>;
  controlTokens: ControlTokens;
  /** Of tokenizer.json. */
  content: Record<string, unknown>;
  syntax: ChatSyntax;
  /** The template tells the model of functions and calls itself. */
  knowsTools: boolean;
  /** Bytes of text that one token stands for at most; null: unknown. */
  longestToken: number | null;
  /** What the tokenizer puts before a prompt, if anything. */
  startToken: number | null;
}

const cache = new Map<string, ModelText>();

/** Token ids of a text. Throws DomainError. */
export function encode(model: ModelText, job: EncodeJob): number[] {
  refuseFarTooLong(job.text, model, job.mostTokens);
  const ids = model.controlTokens.encode(job.text, null);
  const { startToken } = model;
  return job.asPrompt && startToken !== null && ids[0] !== startToken ? [startToken, ...ids] : ids;
}

/** Token ids of messages, with what the template tells of the answer's form. Throws DomainError. */
export function encodeChat(model: ModelText, job: ChatJob): EncodedChat {
  const { mark, ...texts } = model.controlTokens.mark(job);
  const text = render(model, model.knowsTools ? texts : toldInText(texts), job.thinking);
  refuseFarTooLong(text, model, job.mostTokens);
  const { reasoning } = model.syntax;
  const syntax = { ...model.syntax, reasoning: reasoning && opensReasoning(text) ? 'open' : reasoning } as const;
  return { ids: model.controlTokens.encode(text, mark), syntax };
}

/** Text of token ids, special ones as they are spelt. Throws DomainError naming the one that is none. */
export function decode({ tokenizer }: ModelText, tokens: readonly number[]): string {
  const wrong = tokens.findIndex((id) => tokenizer.id_to_token(id) === undefined);
  if (wrong >= 0) {
    const param = `tokens[${wrong}]`;
    throw new DomainError('invalid_value', `'${param}' is no token of this model.`, { param });
  }
  if (tokens.length === 0) return '';
  return tokenizer.decode([...tokens], { skip_special_tokens: false, clean_up_tokenization_spaces: false });
}

function refuseFarTooLong(text: string, model: ModelText, mostTokens: number | undefined): void {
  const least = leastTokens(text, model.longestToken);
  if (mostTokens === undefined || least <= mostTokens) return;
  throw new DomainError(
    'context_length_exceeded',
    `The input has at least ${least} tokens; the model's context is ${mostTokens + 1} tokens and must hold the answer too.`,
    { param: 'input' },
  );
}

function render(model: ModelText, { messages, tools }: ClientTexts, thinking: boolean | undefined): string {
  if (model.template === null)
    throw new DomainError('invalid_value', 'this model has no chat template', { param: 'input' });
  try {
    return model.template.render({
      ...model.specialTokens,
      messages,
      ...(tools && { tools }),
      ...(thinking !== undefined && { enable_thinking: thinking }),
      add_generation_prompt: true,
    });
  } catch (cause) {
    throw new DomainError(
      'invalid_value',
      `the model's chat template refused the messages: ${(cause as Error).message}`,
      {
        param: 'input',
        cause,
      },
    );
  }
}

/** Tokenizer and template of a model's folder, read anew when a file has changed. Throws DomainError. */
export async function openModelText(directory: string): Promise<ModelText> {
  const stamp = stampOf(directory);
  const known = cache.get(directory);
  cache.delete(directory);
  const model = known?.stamp === stamp ? known : await read(directory, stamp);
  cache.set(directory, model);
  if (cache.size > CAPACITY) cache.delete(cache.keys().next().value!);
  return model;
}

/** This process has nothing else to do: to wait for three looks costs a tenth of handing them to threads. */
function stampOf(directory: string): string {
  return FILES.map((file) => {
    try {
      const { size, mtimeMs } = statSync(join(directory, file));
      return `${size} ${mtimeMs}`;
    } catch {
      // What is wrong with it is told by who reads it.
      return '-';
    }
  }).join(';');
}

async function read(directory: string, stamp: string): Promise<ModelText> {
  const { tokenizer, config, content } = await readTokenizer(directory);
  const source = (await templateFile(directory)) ?? templateIn(config['chat_template']);
  const specialTokens: Record<string, string> = {};
  for (const name of SPECIAL_TOKENS) {
    const value = config[name] as string | { content?: string } | null | undefined;
    specialTokens[name] = (typeof value === 'string' ? value : value?.content) ?? '';
  }
  try {
    const template = source === null ? null : new Template(source);
    return {
      stamp,
      tokenizer,
      template,
      ...chatSyntaxOf(source ?? ''),
      specialTokens,
      content,
      controlTokens: new ControlTokens(tokenizer),
      longestToken: longestToken(content),
      startToken: startTokenOf(tokenizer, specialTokens['bos_token'] ?? ''),
    };
  } catch (cause) {
    throw new DomainError('model_load_failed', `the chat template cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** Only where the tokenizer itself begins a prompt with it: some models name a start token and want none. */
function startTokenOf(tokenizer: Tokenizer, name: string): number | null {
  const [first] = tokenizer.encode('', { add_special_tokens: true }).ids;
  return first !== undefined && first === tokenizer.token_to_id(name) ? first : null;
}

/** One template, or a list with one of the name `default`. */
function templateIn(stated: unknown): string | null {
  if (typeof stated === 'string') return stated;
  if (!Array.isArray(stated)) return null;
  const named = stated as { name?: unknown; template?: unknown }[];
  const template = named.find(({ name }) => name === 'default')?.template;
  return typeof template === 'string' ? template : null;
}

/** A template in a file of its own wins over the one in tokenizer_config.json. */
async function templateFile(directory: string): Promise<string | null> {
  return readFile(join(directory, 'chat_template.jinja'), 'utf8').catch(() => null);
}
