import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import type { Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import type { EngineModel, GenerationEnd } from '../inference/index.js';
import { ModelResidency, type ModelSeat } from '../models/index.js';
import {
  TaskHandlers,
  TaskRunner,
  type JsonObject,
  type OnRestart,
  type Seat,
  type TaskChange,
  type TaskHandler,
  type TaskOutcome,
  type TaskRun,
} from '../tasks/index.js';
import { ResponseEvents } from './response-events.js';
import { ResponseStore } from './response-store.js';
import { snapshotLine } from './token-log.js';

export const RESPONSE_TASK_TYPE = 'response';

/** A task's place on a model. */
export interface ResponseSeat extends Seat {
  readonly model: Promise<EngineModel>;
}

/** Runs tasks of type `response`: one generation each, every token a step on disk before any reader sees it. */
@Injectable()
export class ResponseHandler implements TaskHandler<ResponseSeat>, OnModuleInit {
  readonly type = RESPONSE_TASK_TYPE;

  constructor(
    private readonly handlers: TaskHandlers,
    private readonly runner: TaskRunner,
    private readonly residency: ModelResidency,
    private readonly store: ResponseStore,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.handlers.register(this);
    this.residency.onSeatFree((model) => this.runner.wake(this.type, model));
  }

  get defaultOnRestart(): OnRestart {
    return this.config.defaultOnRestart;
  }

  seat(model: string | null): ResponseSeat | null {
    const seat = model === null ? null : this.residency.seat(model);
    return seat && responseSeat(seat);
  }

  project(tx: Tx, change: TaskChange): Promise<JsonObject> {
    return this.store.project(tx, change) as Promise<unknown> as Promise<JsonObject>;
  }

  async run(run: TaskRun<ResponseSeat>): Promise<TaskOutcome> {
    const { task } = run;
    const responseId = task.responseId ?? '';
    const [model, generation] = await Promise.all([run.seat.model, this.store.generation(responseId)]);
    const events = new ResponseEvents(responseId, task.startCount);
    const promptTokens = generation.promptIds.length;
    let failure: unknown = null;
    const live = model.generate(
      { id: `${task.id}.${task.attempt}`, ...generation },
      {
        prefilled: (tokens) =>
          run.progress({ phase: 'prefill', load_fraction: null, prompt_tokens: tokens, output_tokens: 0 }),
        step: (step) => {
          run.progress({
            phase: 'decode',
            load_fraction: null,
            prompt_tokens: promptTokens,
            output_tokens: step.index + 1,
          });
          run.append({ events: events.next(step), snapshot: snapshotLine(step) }).then(
            () => live.acknowledge(step.index),
            (error: unknown) => {
              failure ??= error;
              live.cancel();
            },
          );
        },
      },
    );
    const stop = (): void => live.cancel();
    run.signal.addEventListener('abort', stop, { once: true });
    if (run.signal.aborted) stop();
    const end = await live.ended;
    run.signal.removeEventListener('abort', stop);
    if (failure instanceof Error) throw failure;
    return outcomeOf(end);
  }
}

function responseSeat(seat: ModelSeat): ResponseSeat {
  const ready = seat.model.then(() => undefined);
  // The task may be cancelled before it looks; the load's failure is then nobody's.
  ready.catch(() => undefined);
  return { owner: seat.owner, resident: seat.resident, model: seat.model, ready, release: () => seat.release() };
}

function outcomeOf(end: GenerationEnd): TaskOutcome {
  switch (end.outcome) {
    case 'finished':
      return end.finish === 'stop' ? { kind: 'completed' } : { kind: 'limited' };
    case 'cancelled':
      return { kind: 'aborted' };
    case 'failed':
      return { kind: 'failed', error: new DomainError('model_error', end.message).toBody() };
    case 'lost':
      return { kind: 'lost', message: end.message };
  }
}
