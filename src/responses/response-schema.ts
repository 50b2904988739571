import {
  anything,
  boolean,
  constant,
  either,
  integer,
  listOf,
  mapOf,
  named,
  nullable,
  number,
  object,
  oneOfWords,
  text,
  unixSeconds,
} from '../openapi/index.js';
import { FAILURE, ON_RESTART_POLICIES, TASK_STATUSES } from '../tasks/index.js';
import { MESSAGE_ROLES } from './dto/input-message.dto.js';

const ITEM_STATUSES = ['in_progress', 'completed', 'incomplete'] as const;
const STATUSES = ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'] as const;

const TOKEN = { token: text(), bytes: listOf(integer()), logprob: number('Natural logarithm of its probability') };
const LOGPROB = object({ ...TOKEN, top_logprobs: listOf(object(TOKEN)) });

const OUTPUT_MESSAGE = named(
  'OutputMessage',
  object({
    id: text('`msg_…`'),
    type: constant('message'),
    role: constant('assistant'),
    status: oneOfWords(ITEM_STATUSES),
    content: listOf(
      object({ type: constant('output_text'), text: text(), annotations: listOf({}), logprobs: listOf(LOGPROB) }),
    ),
  }),
);

const FUNCTION_CALL = named(
  'OutputFunctionCall',
  object({
    id: text('`fc_…`'),
    type: constant('function_call'),
    status: oneOfWords(ITEM_STATUSES),
    call_id: text('`call_…`; the output of the call names it'),
    name: text(),
    arguments: text('JSON'),
  }),
);

const REASONING = named(
  'OutputReasoning',
  object({
    id: text('`rs_…`'),
    type: constant('reasoning'),
    status: oneOfWords(ITEM_STATUSES),
    summary: listOf(object({ type: constant('summary_text'), text: text() })),
  }),
);

const FUNCTION_TOOL = object({
  type: constant('function'),
  name: text(),
  description: nullable(text()),
  parameters: nullable({ type: 'object' }),
  strict: boolean(),
});

const USAGE = object({
  input_tokens: integer(),
  input_tokens_details: object({ cached_tokens: integer('Of them not computed again') }),
  output_tokens: integer(),
  output_tokens_details: object({ reasoning_tokens: integer() }),
  total_tokens: integer(),
});

/** The Response object (WIRE B3): every key that Open Responses requires, and `lmsp`. */
export const RESPONSE = named(
  'Response',
  object({
    id: text('`resp_…`'),
    object: constant('response'),
    created_at: unixSeconds('When it was accepted'),
    completed_at: nullable(unixSeconds('When it was completed')),
    status: oneOfWords(STATUSES),
    incomplete_details: nullable(object({ reason: constant('max_output_tokens') })),
    error: nullable(FAILURE),
    model: text(),
    previous_response_id: nullable(text()),
    instructions: nullable(text()),
    output: listOf(either([OUTPUT_MESSAGE, FUNCTION_CALL, REASONING])),
    tools: listOf(FUNCTION_TOOL),
    tool_choice: anything('As given'),
    truncation: constant('disabled'),
    parallel_tool_calls: boolean(),
    text: object({ format: anything('As given, `strict` true where it was left out') }),
    top_p: number(),
    presence_penalty: number(),
    frequency_penalty: number(),
    top_logprobs: integer(),
    temperature: number(),
    reasoning: anything('As given'),
    usage: nullable(USAGE),
    max_output_tokens: nullable(integer()),
    max_tool_calls: nullable(integer()),
    store: boolean(),
    background: boolean(),
    service_tier: text(),
    metadata: mapOf(text()),
    safety_identifier: nullable(text()),
    prompt_cache_key: nullable(text()),
    user: nullable(text()),
    lmsp: object({
      task_id: nullable(text('Null where nothing is stored')),
      task_status: oneOfWords(TASK_STATUSES),
      attempt: integer('Runs that have begun'),
      on_restart: oneOfWords(ON_RESTART_POLICIES),
      seed: integer('Gives the same answer again'),
      replayed_tokens: integer('Computed again after interruptions'),
    }),
  }),
);

/** An item of the input as it was stored. */
export const INPUT_ITEM = named('InputItem', {
  type: 'object',
  required: ['id', 'type'],
  properties: {
    id: text(),
    type: text('`message`, `function_call`, `function_call_output` or `reasoning`'),
    role: oneOfWords(MESSAGE_ROLES),
    content: listOf({ type: 'object' }),
    call_id: text(),
    name: text(),
    arguments: text(),
    output: either([text(), listOf({ type: 'object' })]),
    summary: listOf({ type: 'object' }),
  },
});
