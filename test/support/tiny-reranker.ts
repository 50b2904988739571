import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onnxBytes } from './onnx-bytes.js';
import { Random } from './random.js';

const WORDS = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'what', 'is', 'a', 'cat', 'dog', 'fish', 'an', 'animal', 'stone'];
const SIZE = 4;
const SEPARATOR = WORDS.indexOf('[SEP]');
const FREE = ['batch', 'sequence'];

const random = new Random(7);
const draw = (length: number): Float32Array => Float32Array.from({ length }, () => random.next() * 2 - 1);
const WEIGHTS = { words: draw(WORDS.length * SIZE), types: draw(2 * SIZE), head: draw(SIZE) };

/** Writes a cross-encoder with random weights: the tanh of the sum of its tokens' vectors, and a head of one label. */
export async function writeTinyReranker(directory: string): Promise<void> {
  await mkdir(join(directory, 'onnx'), { recursive: true });
  const json = (file: string, value: unknown): Promise<void> => writeFile(join(directory, file), JSON.stringify(value));
  await Promise.all([
    writeFile(join(directory, 'onnx/model.onnx'), graph()),
    json('config.json', { model_type: 'bert', max_position_embeddings: 16, pad_token_id: 0, hidden_size: SIZE }),
    json('tokenizer_config.json', { tokenizer_class: 'BertTokenizer', model_max_length: 16 }),
    json('tokenizer.json', tokenizer()),
  ]);
}

/** The raw score that the graph must give for a question and a text of known words. */
export function tinyScore(query: string, text: string): number {
  const id = (word: string): number => WORDS.indexOf(word);
  const first = [WORDS.indexOf('[CLS]'), ...query.split(' ').map(id), SEPARATOR];
  const second = [...text.split(' ').map(id), SEPARATOR];
  let score = 0;
  for (let i = 0; i < SIZE; i++) {
    const sum = [first, second].flatMap((ids, type) =>
      ids.map((token) => WEIGHTS.words[token * SIZE + i]! + WEIGHTS.types[type * SIZE + i]!),
    );
    score += Math.tanh(sum.reduce((total, value) => total + value, 0)) * WEIGHTS.head[i]!;
  }
  return score;
}

function graph(): Buffer {
  const axis = (name: string, value: bigint) => ({ name, dims: [1], values: BigInt64Array.of(value) });
  return onnxBytes({
    inputs: ['input_ids', 'attention_mask', 'token_type_ids'].map((name) => ({ name, type: 'int64', shape: FREE })),
    outputs: [{ name: 'logits', type: 'float32', shape: ['batch', 1] }],
    weights: [
      { name: 'words', dims: [WORDS.length, SIZE], values: WEIGHTS.words },
      { name: 'types', dims: [2, SIZE], values: WEIGHTS.types },
      { name: 'head', dims: [SIZE, 1], values: WEIGHTS.head },
      axis('last', 2n),
      axis('tokens', 1n),
    ],
    nodes: [
      { operator: 'Gather', inputs: ['words', 'input_ids'], output: 'word' },
      { operator: 'Gather', inputs: ['types', 'token_type_ids'], output: 'type' },
      { operator: 'Add', inputs: ['word', 'type'], output: 'vector' },
      { operator: 'Cast', inputs: ['attention_mask'], output: 'ones', attributes: { to: 1 } },
      { operator: 'Unsqueeze', inputs: ['ones', 'last'], output: 'mask' },
      { operator: 'Mul', inputs: ['vector', 'mask'], output: 'masked' },
      { operator: 'ReduceSum', inputs: ['masked', 'tokens'], output: 'sum', attributes: { keepdims: 0 } },
      { operator: 'Tanh', inputs: ['sum'], output: 'hidden' },
      { operator: 'MatMul', inputs: ['hidden', 'head'], output: 'logits' },
    ],
  });
}

/** BERT's, for whole words of the list. */
function tokenizer(): object {
  const special = (token: string, typeId: number): object => ({ SpecialToken: { id: token, type_id: typeId } });
  const sequence = (id: string, typeId: number): object => ({ Sequence: { id, type_id: typeId } });
  const single = [special('[CLS]', 0), sequence('A', 0), special('[SEP]', 0)];
  const ids = (token: string): object => ({ id: token, ids: [WORDS.indexOf(token)], tokens: [token] });
  return {
    version: '1.0',
    added_tokens: WORDS.slice(0, 4).map((content, id) => ({
      id,
      content,
      special: true,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
    })),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single,
      pair: [...single, sequence('B', 1), special('[SEP]', 1)],
      special_tokens: { '[CLS]': ids('[CLS]'), '[SEP]': ids('[SEP]') },
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(WORDS.map((word, id) => [word, id])),
    },
  };
}
