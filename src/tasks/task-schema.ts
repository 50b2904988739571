import { ERROR_CODES } from '../errors/index.js';
import {
  anything,
  boolean,
  constant,
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
import { ON_RESTART_POLICIES, TASK_STATUSES } from './task-transitions.js';

/** Why a task or a response failed: the body of an error without its envelope. */
export const FAILURE = named(
  'Failure',
  object({
    type: text(),
    code: oneOfWords(Object.keys(ERROR_CODES)),
    message: text(),
    param: nullable(text()),
  }),
);

const PROGRESS = object({
  phase: text('What is being done now, or what it waits for: `waiting_for_memory` until other models have gone'),
  load_fraction: nullable(number('Part of the model that is loaded, or was pulled', { minimum: 0, maximum: 1 })),
  prompt_tokens: nullable(integer('Tokens of the prompt')),
  output_tokens: integer('Tokens written so far'),
});

/** The Task object (WIRE B4). */
export const TASK = named(
  'Task',
  object({
    id: text('`task_…`'),
    object: constant('task'),
    type: text('`response`, `model.pull`, or the type of an extension'),
    client_id: text('Whose it is'),
    response_id: nullable(text('The response that it makes')),
    model: nullable(text()),
    result: nullable({ type: 'object', description: 'Of other types than `response`' }),
    status: oneOfWords(TASK_STATUSES),
    on_restart: oneOfWords(ON_RESTART_POLICIES, 'What becomes of it at a restart'),
    background: boolean('False: it ends with the connection that asked for it'),
    attempt: integer('Runs that have begun; only grows'),
    interruptions: integer('Unclean ends of an attempt in a row'),
    max_interruptions: integer('As many end it'),
    last_sequence_number: integer('Of its last event'),
    queue_position: nullable(integer('Tasks ahead of it; null when it does not wait')),
    queue_ahead_seconds: nullable(integer('About how long these take; null: unknown')),
    progress: PROGRESS,
    error: nullable(FAILURE),
    created_at: unixSeconds('When it was accepted'),
    updated_at: unixSeconds('When its status last changed'),
    started_at: nullable(unixSeconds('When it first ran')),
    finished_at: nullable(unixSeconds('When it ended')),
    cancel_requested_at: nullable(unixSeconds('When a cancel was accepted')),
    expires_at: nullable(unixSeconds('When it may be removed; null: never, or not known yet')),
    poll_interval_ms: integer('A good pause between two looks; 0: it has ended'),
    metadata: mapOf(text(), 'As given with the request'),
  }),
);

/** One event of a log: the same object in a page and in a stream. */
export const TASK_EVENT = named('TaskEvent', {
  type: 'object',
  description: 'An event of the log. Beside these fields it has those of its type (Open Responses).',
  required: ['type', 'sequence_number'],
  properties: {
    type: text('`response.created`, `response.output_text.delta`, …'),
    sequence_number: integer('0, 1, 2 … without a gap'),
    response: anything('The whole response, in events of its lifecycle'),
    task: anything('The whole task, in events of the lifecycle of other types'),
  },
});

export const EVENT_PAGE = object({
  object: constant('list'),
  data: listOf(TASK_EVENT),
  has_more: boolean('There are later ones already'),
});
