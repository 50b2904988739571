import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { disconnection } from '../http/index.js';
import { TaskRunner, type Task } from '../tasks/index.js';
import { EphemeralResponses } from './ephemeral-responses.js';
import { ForegroundResponses, successOf } from './foreground-responses.js';
import { ResponseAcceptance } from './response-acceptance.js';
import type { ResponseDraft } from './response-store.js';
import { ResponseStreams, type ResponseStream } from './response-streams.js';

/** Polling more often than this tells nothing new. */
const RETRY_AFTER_SECONDS = 1;

/** The ways a create is answered: kept or not, in the background or not, as events or as one object (WIRE B3). */
@Injectable()
export class ResponseCreation {
  constructor(
    private readonly acceptance: ResponseAcceptance,
    private readonly runner: TaskRunner,
    private readonly foreground: ForegroundResponses,
    private readonly ephemeral: EphemeralResponses,
    private readonly streams: ResponseStreams,
  ) {}

  async answer(draft: ResponseDraft, response: Response): Promise<void> {
    const { store, background } = draft.body;
    if (!store) await this.forgotten(draft, response);
    else if (background) await this.accepted(draft, response);
    else await this.awaited(draft, response);
  }

  /** As `answer`, but with the events from 0. */
  async stream(draft: ResponseDraft, response: Response): Promise<void> {
    const { store, background } = draft.body;
    // The place comes first: a stream that finds none must not leave a task behind.
    await this.streams.withPlace(background ? 'reader' : 'foreground', response, (stream) =>
      store ? this.followed(draft, response, stream) : stream.live((signal) => this.ephemeral.run(draft, signal)),
    );
  }

  /** Background: 202 once the task is on disk (R1). */
  private async accepted(draft: ResponseDraft, response: Response): Promise<void> {
    await this.start(draft, response);
    response.status(202).setHeader('Location', `/v1/responses/${draft.body.id}`);
    response.setHeader('Retry-After', RETRY_AFTER_SECONDS);
    response.json(draft.body);
  }

  private async awaited(draft: ResponseDraft, response: Response): Promise<void> {
    const task = await this.start(draft, response);
    const body = await this.foreground.outcome(task, disconnection(response));
    if (body) response.json(body);
  }

  private async followed(draft: ResponseDraft, response: Response, stream: ResponseStream): Promise<void> {
    const task = await this.start(draft, response);
    const gone = disconnection(response);
    let heard = false;
    try {
      await stream.stored(task.id, -1);
      heard = !gone.aborted;
    } finally {
      if (!heard && !task.background) await this.foreground.abandon(task.id);
    }
  }

  private async forgotten(draft: ResponseDraft, response: Response): Promise<void> {
    const run = this.ephemeral.run(draft, disconnection(response));
    let event = await run.next();
    while (!event.done) event = await run.next();
    if (event.value) response.json(successOf(event.value));
  }

  private async start(draft: ResponseDraft, response: Response): Promise<Task> {
    const task = await this.acceptance.accept(draft);
    this.runner.wake(task.type, task.model);
    response.setHeader('LMSP-Task-Id', task.id);
    return task;
  }
}
