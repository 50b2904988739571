import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { DomainError } from '../errors/index.js';
import { logCrashes } from './crash-log.js';
import { createLogger } from './logger.js';
import { NestLog } from './nest-log.js';
import { logNotices } from './notice-log.js';
import { NOTICE_LOG, type LogLevel } from './notice-log-table.js';
import type { NoticeName, NoticeTypes } from './notice-types.js';
import { Notices } from './notices.js';
import { withRequestId } from './request-context.js';

const SECRET = 'lmsp_secretsecretsecret';
const PROMPT = 'tell me about the seaside in winter';

type Line = Record<string, unknown>;

function listen(level: LogLevel = 'trace') {
  const written: string[] = [];
  const logger = createLogger(level, { write: (text) => void written.push(text) });
  const notices = new Notices();
  logNotices(notices, logger);
  return { notices, logger, written, lines: (): Line[] => written.map((text) => JSON.parse(text) as Line) };
}

const request: NoticeTypes['http.request'] = {
  method: 'GET',
  route: '/v1/tasks/:id',
  status: 200,
  duration_ms: 3,
  bytes: 10,
  stream: false,
  error_code: null,
  replayed: false,
  client_id: 'cli_1',
  task_id: null,
};

const transition: NoticeTypes['task.transition'] = {
  task_id: 'task_1',
  client_id: 'cli_1',
  type: 'response',
  model: 'pocket',
  background: true,
  on_restart: 'retry',
  command: 'complete',
  from: 'running',
  to: 'completed',
  attempt: 1,
  events: 1,
  waited_ms: null,
  duration_ms: 42,
  error_code: null,
};

describe('the log of notices (OPERATE 4)', () => {
  it('writes one JSON line with ISO time, level as a word, constant message and the fields', () => {
    const { notices, lines } = listen();
    notices.emit('model.unloaded', { model: 'pocket', reason: 'requested' });
    expect(lines()).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        level: 'info',
        msg: 'model unloaded',
        model: 'pocket',
        reason: 'requested',
      },
    ]);
  });

  it.each(Object.keys(NOTICE_LOG) as NoticeName[])('lets no field of %s out that is not on its list', (name) => {
    const { notices, lines } = listen();
    const fields = NOTICE_LOG[name].fields as readonly string[];
    const listed = Object.fromEntries(fields.map((field) => [field, { prompt: PROMPT }]));
    notices.emit(name, { ...listed, status: 200, prompt: PROMPT, token: SECRET, output: { text: PROMPT } } as never);
    const [line] = lines();
    expect(line).toBeDefined();
    expect(
      Object.keys(line ?? {})
        .filter((key) => !['time', 'level', 'msg'].includes(key))
        .sort(),
    ).toEqual([...fields].sort());
    expect(JSON.stringify(line)).not.toContain(PROMPT);
    expect(JSON.stringify(line)).not.toContain(SECRET);
  });

  it('tells a task end at info and every other transition at debug', () => {
    const { notices, lines } = listen();
    notices.emit('task.transition', { ...transition, to: 'running', duration_ms: null });
    notices.emit('task.transition', transition);
    expect(lines().map(({ level, to }) => [level, to])).toEqual([
      ['debug', 'running'],
      ['info', 'completed'],
    ]);
  });

  it.each([
    ['/v1/tasks/:id', 204, 'debug'],
    ['/v1/tasks/:id', 302, 'debug'],
    ['/v1/tasks/:id', 404, 'warn'],
    ['/v1/tasks/:id', 503, 'error'],
    ['/health', 200, 'trace'],
    ['/ready', 503, 'trace'],
  ])('logs %s with status %i at %s', (route, status, level) => {
    const { notices, lines } = listen();
    notices.emit('http.request', { ...request, route, status });
    expect(lines()[0]).toMatchObject({ level, route, status });
  });

  it('writes nothing below the level that was asked for', () => {
    const { notices, written } = listen('info');
    notices.emit('http.request', request);
    expect(written).toEqual([]);
  });

  it('marks the lines of a request with its id, and no line of work that outlives it', () => {
    const { notices, lines } = listen();
    withRequestId('req-1', () => {
      notices.emit('http.request', request);
      notices.emit('task.transition', transition);
    });
    notices.emit('http.request', request);
    expect(lines().map((line) => line.request_id)).toEqual(['req-1', undefined, undefined]);
  });
});

describe('errors in the log', () => {
  it('keep name, code, message, frames and cause, and nothing a driver attached', () => {
    const { notices, lines } = listen();
    const cause = Object.assign(new Error('SQLITE_BUSY: database is locked'), {
      code: 'SQLITE_BUSY',
      query: `insert into items values ('${PROMPT}')`,
      parameters: [PROMPT, SECRET],
    });
    notices.emit('http.fault', { error: new DomainError('server_error', 'the store failed', { cause }) });
    const [line] = lines();
    expect(line).toMatchObject({
      level: 'error',
      error: {
        name: 'DomainError',
        code: 'server_error',
        message: 'the store failed',
        cause: { name: 'Error', code: 'SQLITE_BUSY', message: 'SQLITE_BUSY: database is locked', cause: null },
      },
    });
    expect((line?.error as { frames: string[] }).frames[0]).toMatch(/^at .*notice-log\.spec/);
    expect(JSON.stringify(line)).not.toContain(PROMPT);
    expect(JSON.stringify(line)).not.toContain(SECRET);
  });

  it('keep no message of a syntax error, which quotes the text, and none of its stack', () => {
    const { notices, written } = listen();
    try {
      JSON.parse(PROMPT);
    } catch (error) {
      notices.emit('http.fault', { error });
    }
    expect(written).toHaveLength(1);
    expect(written[0]).toContain('SyntaxError');
    expect(written[0]).not.toContain(PROMPT.slice(0, 8));
  });

  it('keep nothing of a thrown value that is no error, and end at the third cause', () => {
    const { notices, lines, written } = listen();
    notices.emit('http.fault', { error: PROMPT });
    const looped = new Error('round');
    looped.cause = looped;
    notices.emit('http.fault', { error: looped });
    expect(lines()[0]?.error).toEqual({ name: 'string', code: null, message: null, frames: [], cause: null });
    expect(written[1]?.match(/"message":"round"/g)).toHaveLength(4);
  });
});

describe('a crash', () => {
  it.each(['uncaughtException', 'unhandledRejection'] as const)(
    'by %s is one fatal line, flushed before exit 1',
    (event) => {
      const order: string[] = [];
      const source = new EventEmitter();
      const logger = createLogger('info', {
        write: (text) => void order.push((JSON.parse(text) as Line).msg as string),
      });
      const log = { logger, flush: () => void order.push('flush') };
      logCrashes(log, source, (code) => void order.push(`exit ${code}`));
      source.emit(event, new Error('nobody caught this'));
      expect(order).toEqual(['service crashed', 'flush', 'exit 1']);
    },
  );

  it('ends the process even when the line cannot be written', () => {
    const source = new EventEmitter();
    const exits: number[] = [];
    const flush = (): never => {
      throw new Error('standard output is gone');
    };
    logCrashes(
      { logger: createLogger('info', { write: () => undefined }), flush },
      source,
      (code) => void exits.push(code),
    );
    expect(() => source.emit('uncaughtException', new Error('first'))).toThrow('standard output is gone');
    expect(exits).toEqual([1]);
  });
});

describe("the framework's own lines", () => {
  it('stand at debug with their context', () => {
    const { logger, lines } = listen();
    new NestLog(logger).log('Mapped {/health, GET} route', 'RouterExplorer');
    expect(lines()[0]).toMatchObject({ level: 'debug', msg: 'Mapped {/health, GET} route', context: 'RouterExplorer' });
  });

  it('keep of an error its loggable part, wherever the framework puts its stack', () => {
    const { logger, lines, written } = listen();
    const nest = new NestLog(logger);
    const error = Object.assign(new Error('driver'), { parameters: [SECRET] });
    nest.error(error, `Error: ${PROMPT}\n    at somewhere`, 'ExceptionsHandler');
    nest.error(error, `Error: ${PROMPT}\n    at somewhere`);
    expect(lines()[0]).toMatchObject({ level: 'error', context: 'ExceptionsHandler', error: { message: 'driver' } });
    expect(lines()[1]).toMatchObject({ level: 'error', context: null });
    expect(written.join('')).not.toContain(SECRET);
    expect(written.join('')).not.toContain(PROMPT);
  });

  it('never show a secret under a known name, whoever logs it', () => {
    const { logger, written } = listen();
    logger.info({ token: SECRET, headers: { authorization: SECRET, cookie: SECRET } }, 'careless');
    expect(written[0]).not.toContain(SECRET);
  });
});
