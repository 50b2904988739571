import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { TaskRunner } from '../tasks/index.js';
import { answerAccepted } from './accepted-answer.js';
import type { Creation } from './creation.js';
import { ForegroundResponses } from './foreground-responses.js';
import { ResponseAcceptance, type Accepted } from './response-acceptance.js';
import { ResponseRepeats } from './response-repeats.js';
import type { ResponseDraft } from './response-store.js';
import { ResponseStreams } from './response-streams.js';

/** Creates that make a task, unless their key has one already. */
@Injectable()
export class StoredCreation implements Creation {
  constructor(
    private readonly acceptance: ResponseAcceptance,
    private readonly runner: TaskRunner,
    private readonly foreground: ForegroundResponses,
    private readonly repeats: ResponseRepeats,
    private readonly streams: ResponseStreams,
  ) {}

  /** Background: 202 once the task is on disk (R1). Foreground: the response at its end. */
  async answer(draft: ResponseDraft, response: Response): Promise<void> {
    const { task, repeated, body: json } = await this.accept(draft, response);
    if (repeated) await this.repeats.answer(task, response);
    else if (task.background) answerAccepted(response, draft.body.id, json);
    else {
      const body = await this.foreground.outcome(task, draft.keyed !== undefined, response);
      if (body) response.json(body);
    }
  }

  async stream(draft: ResponseDraft, response: Response): Promise<void> {
    // The place comes first: a stream that finds none must not leave a task behind.
    await this.streams.withPlace(draft.body.background ? 'reader' : 'foreground', response, async (stream) => {
      const { task, repeated } = await this.accept(draft, response);
      if (repeated) await this.repeats.follow(task, response, stream);
      else if (task.background) await stream.stored(task.id, -1);
      else await this.foreground.stream(task, draft.keyed !== undefined, response, stream);
    });
  }

  private async accept(draft: ResponseDraft, response: Response): Promise<Accepted> {
    const accepted = await this.acceptance.accept(draft);
    const { task, repeated } = accepted;
    if (!repeated) this.runner.joined(task.type, task.model);
    response.setHeader('LMSP-Task-Id', task.id);
    return accepted;
  }
}
