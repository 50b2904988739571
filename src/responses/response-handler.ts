import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import type { Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import type { EngineModel } from '../inference/index.js';
import { ModelResidency, type ModelSeat } from '../models/index.js';
import {
  TaskHandlers,
  TaskRunner,
  type OnRestart,
  type Seat,
  type TaskChange,
  type TaskHandler,
  type TaskOutcome,
  type Task,
  type TaskRun,
  type UnusableSnapshot,
} from '../tasks/index.js';
import { cacheScope } from './cache-scope.js';
import { ResponseAttempt } from './response-attempt.js';
import { ResponseResumption } from './response-resumption.js';
import { projectResponses } from './response-projection.js';
import { ResponseStore } from './response-store.js';

export const RESPONSE_TASK_TYPE = 'response';

/** A task's place on a model. */
export interface ResponseSeat extends Seat {
  readonly model: Promise<EngineModel>;
  keepLoaded(seconds: number | null): void;
}

/** Runs tasks of type `response`: one generation each, every token a step on disk before any reader sees it. */
@Injectable()
export class ResponseHandler implements TaskHandler<ResponseSeat>, OnModuleInit {
  readonly type = RESPONSE_TASK_TYPE;
  readonly createdBy = 'POST /v1/responses';
  private readonly resumption: ResponseResumption;

  constructor(
    private readonly handlers: TaskHandlers,
    private readonly runner: TaskRunner,
    private readonly residency: ModelResidency,
    private readonly store: ResponseStore,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.resumption = new ResponseResumption(store);
  }

  onModuleInit(): void {
    this.handlers.register(this);
    this.residency.onSeatFree((model) => this.runner.wake(this.type, model));
  }

  get defaultOnRestart(): OnRestart {
    return this.config.defaultOnRestart;
  }

  seat(model: string | null): ResponseSeat | DomainError | null {
    const seat = model === null ? null : this.residency.seat(model);
    return seat === null || seat instanceof DomainError ? seat : responseSeat(seat);
  }

  waitPhase(model: string | null): string | null {
    return model !== null && this.residency.waitsForMemory(model) ? 'waiting_for_memory' : null;
  }

  async project(tx: Tx, changes: TaskChange[]): Promise<string[]> {
    const bodies = await projectResponses(tx, changes);
    return bodies.map((body) => `{"response":${body}}`);
  }

  async takeUp(tx: Tx, task: Task, seat: ResponseSeat): Promise<UnusableSnapshot | null> {
    const { info } = await seat.model;
    return this.resumption.takeUp(tx, task, info);
  }

  async run(run: TaskRun<ResponseSeat>): Promise<TaskOutcome> {
    const { task, resumed } = run;
    const [model, generation, past] = await Promise.all([
      run.seat.model,
      this.store.generation(task.responseId ?? ''),
      resumed ? this.resumption.past(task) : null,
    ]);
    run.seat.keepLoaded(generation.keepAliveSeconds ?? null);
    const scoped = { ...generation, cacheScope: cacheScope(this.config, task.clientId) };
    return new ResponseAttempt(run, model, scoped, past).outcome();
  }
}

function responseSeat(seat: ModelSeat): ResponseSeat {
  const ready = seat.model.then(() => undefined);
  // The task may be cancelled before it looks; the load's failure is then nobody's.
  ready.catch(() => undefined);
  return {
    get owner() {
      return seat.owner;
    },
    resident: seat.resident,
    get loadFraction() {
      return seat.loadFraction;
    },
    keepLoaded: (seconds) => seat.keepLoaded(seconds),
    model: seat.model,
    ready,
    release: () => seat.release(),
  };
}
