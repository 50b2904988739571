import { constant, either, integer, listOf, named, number, object, text } from '../openapi/index.js';

const USAGE = object({ prompt_tokens: integer(), total_tokens: integer() });

export const EMBEDDING_LIST = named(
  'EmbeddingList',
  object({
    object: constant('list'),
    data: listOf(
      object({
        object: constant('embedding'),
        index: integer('Of the text'),
        embedding: either([listOf(number()), text('base64 of float32, little-endian')]),
      }),
      'In the order of the texts',
    ),
    model: text(),
    usage: USAGE,
  }),
);

export const RERANKING = named(
  'Reranking',
  object({
    model: text(),
    results: listOf(
      object({ index: integer('Of the document'), relevance_score: number('From 0 to 1') }),
      'The best first',
    ),
    usage: USAGE,
  }),
);
