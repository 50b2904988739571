import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { DomainError, ServiceStopping } from '../errors/index.js';
import { EventStreams } from '../http/index.js';
import type { EngineModel, GenerationEnd, GenerationRequest, GenerationStep } from '../inference/index.js';
import { ModelResidency } from '../models/index.js';
import type { StoredEvent } from '../tasks/index.js';
import { cacheScope } from './cache-scope.js';
import { EphemeralLog } from './ephemeral-log.js';
import type { ResponseObject } from './response-object.js';
import type { ResponseDraft } from './response-store.js';

type EventsOf<R> = AsyncGenerator<StoredEvent, R>;

/** Longest wait of node's timers. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Responses with store=false: run on the same rows as stored ones, after them in nobody's queue but the model's own,
 * and forgotten at their end (WIRE B6). They belong to their connection.
 */
@Injectable()
export class EphemeralResponses {
  private readonly running = new Set<Promise<void>>();

  constructor(
    private readonly residency: ModelResidency,
    private readonly streams: EventStreams,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Runs as far as it is read; returns the final response, or null when the signal stopped it. A failure is the last
   * two events and stands in the response.
   */
  async *run(draft: ResponseDraft, signal: AbortSignal): EventsOf<ResponseObject | null> {
    const log = new EphemeralLog(draft);
    const deadline = this.deadline();
    const stop = AbortSignal.any([signal, deadline]);
    const leave = this.enter();
    try {
      yield* log.created();
      yield* this.generation(draft, log, stop);
    } catch (error) {
      if (signal.aborted) return null;
      const failure = deadline.aborted ? tookTooLong(this.config.taskTimeoutSeconds) : error;
      if (!(failure instanceof DomainError)) throw failure;
      yield* log.failed(failure.toBody());
    } finally {
      leave();
    }
    return log.response;
  }

  /** Resolves when no response of this kind is being made. */
  async idle(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }

  private enter(): () => void {
    let leave = (): void => undefined;
    const run = new Promise<void>((resolve) => {
      leave = () => {
        this.running.delete(run);
        resolve();
      };
    });
    this.running.add(run);
    return () => leave();
  }

  /** Throws what keeps the generation from its end, the signal's abort included. */
  private async *generation(draft: ResponseDraft, log: EphemeralLog, signal: AbortSignal): EventsOf<void> {
    const seat = await this.residency.waitSeat(draft.body.model, draft.clientId, signal);
    try {
      signal.throwIfAborted();
      seat.keepLoaded(draft.generation.keepAliveSeconds ?? null);
      if (!seat.resident) yield log.progressed('loading');
      const model = await unlessAborted(seat.model, signal);
      yield log.progressed('running');
      const scope = cacheScope(this.config, draft.clientId);
      const end = yield* steps(model, { id: draft.body.id, cacheScope: scope, ...draft.generation }, log, signal);
      if (end.outcome !== 'finished') throw this.failureOf(end, signal);
      yield log.finished(end.finish);
    } finally {
      seat.release();
    }
  }

  private failureOf(end: Exclude<GenerationEnd, { outcome: 'finished' }>, signal: AbortSignal): unknown {
    signal.throwIfAborted();
    if (this.streams.stopping) return new ServiceStopping();
    return new DomainError('model_error', end.outcome === 'cancelled' ? 'The model gave up.' : end.message);
  }

  private deadline(): AbortSignal {
    const { taskTimeoutSeconds } = this.config;
    if (taskTimeoutSeconds === 0) return new AbortController().signal;
    return AbortSignal.timeout(Math.min(taskTimeoutSeconds * 1000, LONGEST_TIMER_MS));
  }
}

/** The events of the generation's steps as they come; returns how it ended, after the last step and not before. */
async function* steps(
  model: EngineModel,
  request: GenerationRequest,
  log: EphemeralLog,
  signal: AbortSignal,
): EventsOf<GenerationEnd> {
  // At most maxOutputTokens wait here: a reader that is slow must not hold the row, which others wait for.
  const waiting: GenerationStep[] = [];
  const outcome: { end?: GenerationEnd } = {};
  let wake = (): void => undefined;
  const live = model.generate(request, {
    prefilled: (_, reused) => (log.cachedTokens = reused),
    step: (step) => {
      waiting.push(step);
      live.acknowledge(step.index);
      wake();
    },
  });
  const ended = live.ended.then((end) => {
    outcome.end = end;
    wake();
  });
  const cancel = (): void => live.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    for (;;) {
      const step = waiting.shift();
      if (step) {
        yield* log.step(step);
        if (log.ended) return { outcome: 'finished', finish: 'stop' };
      } else if (outcome.end) return outcome.end;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    live.cancel();
    await ended;
  }
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
  });
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function tookTooLong(seconds: number): DomainError {
  return new DomainError('task_timeout', `The request ran longer than ${seconds} seconds.`);
}
