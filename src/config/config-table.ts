import { availableParallelism, totalmem } from 'node:os';
import { isAbsolute, normalize } from 'node:path';
import envPaths from 'env-paths';
import { isHost, isOrigin } from './host-names.js';
import {
  cron,
  flag,
  foundAtStart,
  listOf,
  oneOf,
  optionalFile,
  secret,
  serviceAddress,
  whole,
  type Setting,
} from './setting.js';

const HOUR = 3600;
const DAY = 24 * HOUR;
const YEAR = 366 * DAY;

/** Levels of the log, loudest last (OPERATE 4). */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/** What becomes of a background task at a restart (chapter 11.3, WIRE B3). */
export const RESTART_POLICIES = ['fail', 'retry', 'resume'] as const;

const host: Setting<string> = {
  expected: 'a host name or an IP address, without port or brackets',
  parse: (text) => (/^[A-Za-z0-9.:_-]{1,255}$/.test(text) ? text : null),
  fallback: () => '127.0.0.1',
  meaning: 'Address to listen on. Anything but loopback needs TLS files or LMSP_ALLOW_INSECURE_LAN.',
};

const directory: Setting<string> = {
  expected: 'an absolute path',
  parse: (text) => (isAbsolute(text) ? normalize(text) : null),
  fallback: () => envPaths('lmsp', { suffix: '' }).data,
  fallbackText: "the user's data folder, e.g. ~/.local/share/lmsp",
  meaning: 'Folder of the database, the owner token and service.json. One service at a time.',
};

const extensions: Setting<readonly string[]> = {
  expected: 'names of packages or paths, several between commas',
  parse: (text) => {
    const names = text.split(',').map((name) => name.trim());
    return names.includes('') ? null : names;
  },
  fallback: () => [],
  meaning: 'Extensions to load, in this order: paths, or packages in the data folder or beside the service.',
};

/** The rest is for this process, the text workers, the database's cache, and the files that models are mapped from. */
const SHARE_FOR_MODELS = 0.7;

/** Of the container or control group where the service runs in one. */
function memoryForModels(): number {
  const allowed = process.constrainedMemory() || Infinity;
  return Math.floor(Math.min(totalmem(), allowed) * SHARE_FOR_MODELS);
}

/**
 * Every setting: name → parser → default → meaning (HOUSE 7). The variable is `LMSP_` and the name in capitals; units
 * stand in names. Each queue, batch, page and wait of the service has its bound here.
 */
export const CONFIG_TABLE = {
  host,
  allowInsecureLan: flag(false, 'Beyond loopback without TLS: tokens, prompts and answers cross the network readable.'),
  tlsCertFile: optionalFile(
    'Certificate chain as PEM: the service then speaks HTTPS only. Read again when it changes.',
  ),
  tlsKeyFile: optionalFile('Its private key as PEM, without a passphrase.'),
  allowedHosts: listOf(
    'host names, each with a port or without one',
    isHost,
    'Further names by which clients may call the service (Host header); loopback names and LMSP_HOST always work.',
  ),
  allowedOrigins: listOf(
    'origins such as https://app.example',
    isOrigin,
    'Web pages that may call the service from a browser (Origin header, CORS).',
  ),
  port: whole(5677, { min: 0, max: 65535 }, 'Port to listen on; 0 takes any free one, written to service.json.'),
  metricsPort: whole(
    0,
    { min: 0, max: 65535 },
    'Second port, on loopback, that serves /metrics without a token; 0 is none.',
  ),
  dataDir: directory,
  extensions,
  logLevel: oneOf(LOG_LEVELS, 'info', 'Least level that is logged, as JSON lines on standard output.'),

  maxBodyBytes: whole(8_388_608, { min: 1024, max: 1_073_741_824 }, 'Largest request body.'),
  bodyTimeoutSeconds: whole(30, { min: 1, max: HOUR }, 'A request body must have arrived after this time.'),
  maxConnections: whole(1024, { min: 1, max: 65_535 }, 'Open connections; further ones are closed at once.'),
  maxStreams: whole(512, { min: 1, max: 65_535 }, 'Open event streams; further ones get 429.'),
  maxJsonDepth: whole(64, { min: 4, max: 1024 }, 'Deepest nesting of a JSON body.'),
  maxInputItems: whole(4096, { min: 1, max: 1_000_000 }, 'Messages and parts of messages in one request.'),
  maxPreviousResponses: whole(
    1024,
    { min: 1, max: 100_000 },
    'Longest conversation by previous_response_id, in responses.',
  ),
  requestsPerMinute: whole(0, { min: 0, max: 1_000_000 }, 'Requests a minute and client; 0 is no limit.'),
  wrongTokensPerMinute: whole(
    10,
    { min: 0, max: 1_000_000 },
    'Wrong tokens a minute and address that are told so; further ones get 429, right ones always pass; 0 is no limit.',
  ),
  pairingsPerMinute: whole(
    10,
    { min: 0, max: 1_000_000 },
    'Pairings that one address may ask for a minute; 0 is no limit.',
  ),
  maxPendingPairings: whole(20, { min: 1, max: 10_000 }, 'Pairings that wait for a decision; a further one gets 429.'),

  maxQueuedTasks: whole(100_000, { min: 1, max: 10_000_000 }, 'Waiting tasks in all; a create beyond gets 429.'),
  maxQueuedTasksPerClient: whole(10_000, { min: 1, max: 10_000_000 }, 'Waiting tasks of one client.'),
  maxWaitingRequests: whole(
    256,
    { min: 1, max: 65_535 },
    'Requests with store=false that wait for a model; half as many of one client.',
  ),
  maxTaskInputBytes: whole(
    1_048_576,
    { min: 1024, max: 1_073_741_824 },
    'Input of a task of an extension, as JSON; a larger one gets 413.',
  ),
  maxTaskStepBytes: whole(
    1_048_576,
    { min: 1024, max: 67_108_864 },
    'What a task of an extension may save at once: cursor and events of a step, or the result.',
  ),
  acceptBatchSize: whole(256, { min: 1, max: 4096 }, 'Creates that share one commit.'),
  eventPageSize: whole(256, { min: 1, max: 1000 }, 'Events read from disk at a time for a stream.'),

  maxRows: whole(8, { min: 0, max: 64 }, 'Sequences a model decodes together; 0 pauses the queue.'),
  batchInvariant: flag(
    false,
    'Same output whatever runs beside it, also where the processor makes a lone stream pay for it.',
  ),
  prefixCacheBytes: whole(
    268_435_456,
    { min: 0, max: 2 ** 50 },
    'What a model keeps of earlier prompts, so that later ones with the same beginning start sooner; 0 keeps nothing.',
  ),
  prefixCacheShared: flag(false, 'All clients share it: how soon an answer starts then tells what others have asked.'),
  threads: foundAtStart(
    whole(1, { min: 1, max: 256 }, 'Threads of the inference runtime.'),
    () => Math.min(availableParallelism(), 4),
    'the number of cores, at most 4',
  ),
  activations: oneOf(
    ['int8', 'file'],
    'int8',
    'How quantised products compute on the processor: by fast int8 kernels, or as the file says.',
  ),
  executionProvider: oneOf(
    ['cpu', 'cuda'],
    'cpu',
    'What computes models that name nothing else; cuda needs libraries.',
  ),
  cudaDevice: whole(0, { min: 0, max: 255 }, 'Number of the graphics card.'),
  providerFallback: oneOf(
    ['none', 'cpu'],
    'none',
    'What stands in where a graphics card that was asked for cannot be used; none fails the load.',
  ),
  modelMemoryBytes: foundAtStart(
    whole(
      1,
      { min: 1_048_576, max: 2 ** 50 },
      'Memory for loaded models together; who does not fit waits until others can go.',
    ),
    memoryForModels,
    "70 % of the machine's memory, or of what the service may have of it",
  ),
  keepAliveSeconds: whole(
    300,
    { min: -1, max: YEAR },
    'A model that nobody uses stays loaded so long; requests and models may say otherwise; -1 is for ever.',
  ),
  modelTurnSeconds: whole(
    10,
    { min: 0, max: HOUR },
    'A loaded model takes new work so long although another waits for its memory.',
  ),
  textWorkers: whole(1, { min: 1, max: 32 }, 'Worker threads that render and tokenise prompts.'),
  promptTimeoutMs: whole(10_000, { min: 100, max: 600_000 }, 'Longest time to render and tokenise one prompt.'),
  runnerStallSeconds: whole(30, { min: 1, max: HOUR }, 'A model process without progress for so long is replaced.'),

  hubUrl: serviceAddress(
    'https://huggingface.co',
    'Where models are pulled from: a hub that speaks as Hugging Face does, e.g. a mirror.',
  ),
  hubToken: secret('Token for that hub and for no other address.'),
  hubTokenFile: optionalFile('File that holds the token, in the place of LMSP_HUB_TOKEN; read at each pull.'),
  maxPulls: whole(2, { min: 0, max: 64 }, 'Pulls that run at once; further ones wait. 0 pauses them.'),
  maxWaitingPulls: whole(100, { min: 1, max: 10_000 }, 'Unfinished pulls; a further one gets 429.'),
  pullMaxBytes: whole(137_438_953_472, { min: 1, max: 2 ** 50 }, 'Largest sum of the files of one pull.'),
  pullMaxFiles: whole(10_000, { min: 1, max: 1_000_000 }, 'Most files that a repository may list.'),
  pullMaxListingBytes: whole(8_388_608, { min: 1024, max: 2 ** 30 }, 'Longest listing of a repository.'),
  pullBytesPerSecond: whole(
    0,
    { min: 0, max: 2 ** 50 },
    'What all pulls together may receive a second; 0 is no limit.',
  ),
  pullStallSeconds: whole(30, { min: 1, max: HOUR }, 'A hub that sends nothing for so long is asked again.'),
  pullTries: whole(5, { min: 1, max: 1000 }, 'Tries in a row without progress before a pull fails.'),

  queueTimeoutSeconds: whole(0, { min: 0, max: YEAR }, 'A task that waited longer fails; 0 is never.'),
  taskTimeoutSeconds: whole(3600, { min: 0, max: YEAR }, 'A task that ran longer fails; 0 is never.'),
  maxInterruptions: whole(3, { min: 1, max: 1000 }, 'Unclean ends of one task before it is given up.'),
  defaultOnRestart: oneOf(RESTART_POLICIES, 'resume', 'Restart policy of background responses that name none.'),
  cancelWaitMs: whole(2000, { min: 0, max: 60_000 }, "Longest wait of a cancel request for the task's end."),
  cancelGraceSeconds: whole(10, { min: 1, max: HOUR }, 'A model process that ignores a cancel so long is replaced.'),
  foregroundGraceSeconds: whole(
    10,
    { min: 0, max: HOUR },
    'Foreground work with an Idempotency-Key waits so long for a repeat when its client has left.',
  ),
  stopGraceSeconds: whole(10, { min: 0, max: HOUR }, 'Wait for running foreground work at a stop.'),
  heartbeatSeconds: whole(15, { min: 1, max: HOUR }, 'Pause between the comments that keep an idle stream open.'),
  streamStallSeconds: whole(60, { min: 1, max: HOUR }, 'A stream whose reader takes nothing for so long is cut.'),

  unitTimeoutSeconds: whole(10, { min: 1, max: 600 }, 'A transaction that is open longer is rolled back.'),
  busyTimeoutMs: whole(5000, { min: 0, max: 600_000 }, 'Wait for a locked database before a write is refused.'),
  stepGatherMs: whole(
    30,
    { min: 0, max: 1000 },
    'So long after some tokens of a stream the next ones wait to be stored and sent together; 0: each by itself.',
  ),
  diskFloorBytes: whole(
    67_108_864,
    { min: 0, max: 2 ** 50 },
    'With less free space in the data folder /ready answers 503.',
  ),
  ballastBytes: whole(
    16_777_216,
    { min: 0, max: 2 ** 40 },
    'Room put aside in the data folder, given up to running work once the disk is full; 0 is none.',
  ),
  walLimitBytes: whole(
    67_108_864,
    { min: 1_048_576, max: 2 ** 50 },
    'A write-ahead log that is larger is emptied as soon as its readers allow it, and told until then.',
  ),
  storeCheckSeconds: whole(30, { min: 1, max: HOUR }, 'Pause between looks at the room and at the write-ahead log.'),
  storageWaitSeconds: whole(60, { min: 1, max: HOUR }, 'Running work outlives a full or locked disk so long.'),

  retentionTasksSeconds: whole(7 * DAY, { min: 0, max: 100 * YEAR }, 'Ended tasks and their events; 0 keeps them.'),
  retentionResponsesSeconds: whole(30 * DAY, { min: 0, max: 100 * YEAR }, 'Ended responses; 0 keeps them.'),
  retentionIdempotencySeconds: whole(DAY, { min: 0, max: 100 * YEAR }, 'Idempotency keys, 3600 or more; 0 keeps them.'),
  retentionAuditSeconds: whole(365 * DAY, { min: 0, max: 100 * YEAR }, 'The record of who did what; 0 keeps it.'),
  retentionPullsSeconds: whole(
    7 * DAY,
    { min: 0, max: 100 * YEAR },
    'Parts of pulls that were given up; 0 keeps them.',
  ),
  retentionCron: cron('0 * * * *', 'When what is past its time is removed, beside each start: minute, hour, day, ….'),
  retentionBatchEvents: whole(2000, { min: 1, max: 100_000 }, 'Events removed in one transaction.'),
  retentionPauseMs: whole(20, { min: 0, max: 60_000 }, 'Least pause between two such transactions.'),
  retentionVacuumPages: whole(500, { min: 1, max: 100_000 }, 'Free pages given back to the disk in one transaction.'),
  retentionFreePercent: whole(10, { min: 0, max: 100 }, 'Share of free pages that the file keeps for what comes.'),
} satisfies Record<string, Setting<unknown>>;

/** Variables under our prefix that other programs read (the command line, tests, benchmarks): accepted and ignored here. */
export const FOREIGN_KEYS = ['LMSP_URL', 'LMSP_TOKEN', 'LMSP_TEST_MODELS', 'LMSP_BENCH_PEERS'] as const;

export type ConfigName = keyof typeof CONFIG_TABLE;

/** What the service was told, complete and frozen; derived from the table. */
export type Config = {
  readonly [Name in ConfigName]: (typeof CONFIG_TABLE)[Name] extends Setting<infer T> ? T : never;
};

/** `maxRows` → `LMSP_MAX_ROWS`. */
export function variableOf(name: ConfigName): string {
  return `LMSP_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}
