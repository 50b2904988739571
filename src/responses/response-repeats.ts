import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError } from '../errors/index.js';
import type { KeyedRequest, RepeatAnswers } from '../http/index.js';
import { IdempotencyKeys, isTerminal, type Task } from '../tasks/index.js';
import { answerAccepted } from './accepted-answer.js';
import { ForegroundOwnership } from './foreground-ownership.js';
import { ForegroundResponses } from './foreground-responses.js';
import { ResponseStore } from './response-store.js';
import { ResponseStreams, type ResponseStream } from './response-streams.js';

const RETRY_AFTER_SECONDS = 1;

/**
 * Answers to a create whose key has a task already (WIRE B6, idempotency). Nothing is stored for them: what the first
 * was told is derived from the task.
 */
@Injectable()
export class ResponseRepeats implements RepeatAnswers {
  constructor(
    private readonly keys: IdempotencyKeys,
    private readonly store: ResponseStore,
    private readonly ownership: ForegroundOwnership,
    private readonly foreground: ForegroundResponses,
    private readonly streams: ResponseStreams,
  ) {}

  /** Before validation, for keys that are known by then. */
  async answerRepeat(keyed: KeyedRequest, request: Request, response: Response): Promise<boolean> {
    const task = await this.keys.find(keyed);
    if (!task) return false;
    // The same fingerprint: what the first was asked for, and it was valid.
    const { stream } = request.body as { stream?: unknown };
    if (stream === true) await this.streamed(task, response);
    else await this.answer(task, response);
    return true;
  }

  /** As the first was or would have been answered. Throws idempotency_in_progress while a foreground task goes on. */
  async answer(task: Task, response: Response): Promise<void> {
    response.setHeader('LMSP-Task-Id', task.id);
    if (!task.background && !isTerminal(task.status)) {
      this.ownership.renew(task.id);
      throw comeAgain('The first request with this key is still being answered; send it again shortly.');
    }
    const body = task.background
      ? await this.store.asAccepted(task.id)
      : (await this.store.find(task.responseId ?? '', task.clientId))?.body;
    if (!body) throw comeAgain('The response was deleted just now, and its key with it; send the request again.');
    mark(response);
    if (task.background) answerAccepted(response, body.id, JSON.stringify(body));
    else response.json(body);
  }

  /** The events from 0, on a place that was taken before. */
  async follow(task: Task, response: Response, stream: ResponseStream): Promise<void> {
    response.setHeader('LMSP-Task-Id', task.id);
    mark(response);
    if (task.background) await stream.stored(task.id, -1);
    else await this.foreground.stream(task, true, response, stream);
  }

  private streamed(task: Task, response: Response): Promise<void> {
    return this.streams.withPlace(task.background ? 'reader' : 'foreground', response, (stream) =>
      this.follow(task, response, stream),
    );
  }
}

function mark(response: Response): void {
  response.setHeader('Idempotent-Replayed', 'true');
}

function comeAgain(message: string): DomainError {
  return new DomainError('idempotency_in_progress', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
