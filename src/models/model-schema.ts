import {
  boolean,
  constant,
  integer,
  listOf,
  named,
  nullable,
  object,
  oneOfWords,
  text,
  unixSeconds,
} from '../openapi/index.js';

import { EXECUTION_PROVIDERS } from '../inference/index.js';

const STATES = ['verifying', 'available', 'loading', 'loaded', 'missing', 'error'] as const;

/** The Model object (WIRE B2). */
export const MODEL = named(
  'Model',
  object({
    id: text(),
    object: constant('model'),
    created: unixSeconds('When it was registered'),
    owned_by: text(),
    lmsp: object({
      type: oneOfWords(['llm', 'embedding', 'rerank']),
      state: oneOfWords(STATES),
      digest: nullable(text('`sha256:…` over the digests of the files that the loader reads')),
      size_bytes: nullable(integer()),
      format: constant('onnx'),
      context_length: nullable(integer('Tokens of prompt and output together')),
      embedding_dimensions: nullable(integer()),
      capabilities: listOf(text()),
      aliases: listOf(text()),
      loaded_at: nullable(unixSeconds('When it was loaded')),
      pinned: boolean('It is loaded at the start, and never unloaded for another model or for being idle'),
      keep_alive_seconds: nullable(
        integer('Stays loaded so long when nobody uses it; -1: for ever; null: as the service says', { minimum: -1 }),
      ),
      memory_bytes: nullable(integer('Resident memory of its process; null: it is not loaded')),
      memory_estimate_bytes: nullable(integer('What its first load is expected to take; null: not known yet')),
      last_used_at: nullable(unixSeconds('When it was last used since the service started')),
      unloads_at: nullable(unixSeconds('When it is unloaded; null: it is in use, stays, or is not loaded')),
      error: nullable(object({ code: text(), message: text() })),
      activations: text('How activations are computed: `int8` or as the file says'),
      execution_provider: object({
        requested: oneOfWords(EXECUTION_PROVIDERS),
        used: nullable(oneOfWords(EXECUTION_PROVIDERS)),
        device_id: nullable(integer('Number of the graphics card')),
        reason: nullable(text('Why another is used than was asked for')),
      }),
      exact: nullable(
        object({
          resume: boolean('A resumed answer equals the uninterrupted one, bit by bit'),
          batch_invariant: boolean('An answer does not depend on what runs beside it'),
        }),
      ),
    }),
  }),
);

export const MODEL_LIST = object({ object: constant('list'), data: listOf(MODEL) });
