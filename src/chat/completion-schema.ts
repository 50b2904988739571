import {
  constant,
  either,
  integer,
  listOf,
  named,
  nullable,
  number,
  object,
  oneOfWords,
  text,
  unixSeconds,
  type Schema,
} from '../openapi/index.js';

const USAGE = named(
  'CompletionUsage',
  object({
    prompt_tokens: integer(),
    completion_tokens: integer(),
    total_tokens: integer(),
    prompt_tokens_details: object({ cached_tokens: integer('Of them not computed again') }),
    completion_tokens_details: object({ reasoning_tokens: integer() }),
  }),
);

const LOGPROB = { token: text(), logprob: number(), bytes: listOf(integer()) };
const LOGPROBS = nullable(
  object({
    content: listOf(object({ ...LOGPROB, top_logprobs: listOf(object(LOGPROB)) })),
    refusal: { type: 'null' },
  }),
);

const FINISH = oneOfWords(['stop', 'length', 'tool_calls']);
const CALL = object({
  id: text('`call_…`'),
  type: constant('function'),
  function: object({ name: text(), arguments: text('JSON, as the model wrote it') }),
});
const CALL_PIECE = object(
  { index: integer('Of the call'), function: object({ arguments: text('A piece') }, { name: text() }) },
  { id: text('First of all, with type and name'), type: constant('function') },
);

const headOf = (kind: string): Record<string, Schema> => ({
  id: text('`chatcmpl-…`'),
  object: constant(kind),
  created: unixSeconds('When it was accepted'),
  model: text(),
  service_tier: text(),
  system_fingerprint: text('Build of the service'),
});

export const CHAT_COMPLETION = named(
  'ChatCompletion',
  object({
    ...headOf('chat.completion'),
    choices: listOf(
      object({
        index: constant(0),
        message: object(
          { role: constant('assistant'), content: nullable(text()), refusal: { type: 'null' } },
          { reasoning_content: text('What a thinking model shows of its thoughts'), tool_calls: listOf(CALL) },
        ),
        logprobs: LOGPROBS,
        finish_reason: FINISH,
      }),
    ),
    usage: USAGE,
  }),
);

const DELTA = object(
  {},
  {
    role: constant('assistant'),
    content: text(),
    refusal: { type: 'null' },
    reasoning_content: text(),
    tool_calls: listOf(CALL_PIECE),
  },
);

export const CHAT_CHUNK = named(
  'ChatCompletionChunk',
  object(
    {
      ...headOf('chat.completion.chunk'),
      choices: listOf(
        object({ index: constant(0), delta: DELTA, logprobs: LOGPROBS, finish_reason: nullable(FINISH) }),
      ),
    },
    { usage: nullable(USAGE) },
  ),
);

const TEXT_HEAD = {
  id: text('`cmpl-…`'),
  object: constant('text_completion'),
  created: unixSeconds('When it was accepted'),
  model: text(),
  system_fingerprint: text('Build of the service'),
};
const TEXT_CHOICE = object({
  index: constant(0),
  text: text(),
  logprobs: { type: 'null' },
  finish_reason: nullable(oneOfWords(['stop', 'length'])),
});

export const COMPLETION = named('Completion', object({ ...TEXT_HEAD, choices: listOf(TEXT_CHOICE), usage: USAGE }));

export const COMPLETION_CHUNK = named(
  'CompletionChunk',
  object({ ...TEXT_HEAD, choices: listOf(TEXT_CHOICE) }, { usage: either([USAGE, { type: 'null' }]) }),
);
