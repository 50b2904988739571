import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { disconnection } from '../http/index.js';
import type { Creation } from './creation.js';
import { EphemeralResponses } from './ephemeral-responses.js';
import { successOf } from './foreground-responses.js';
import type { ResponseDraft } from './response-store.js';
import { ResponseStreams } from './response-streams.js';
import { WorkAdmission } from './work-admission.js';

/** Creates with store=false. Nothing is kept of them, their key included. */
@Injectable()
export class EphemeralCreation implements Creation {
  constructor(
    private readonly responses: EphemeralResponses,
    private readonly streams: ResponseStreams,
    private readonly admission: WorkAdmission,
  ) {}

  async answer(draft: ResponseDraft, response: Response): Promise<void> {
    await this.admission.requireUnstored(draft);
    const run = this.responses.run(draft, disconnection(response));
    let event = await run.next();
    while (!event.done) event = await run.next();
    if (event.value) response.json(successOf(event.value));
  }

  async stream(draft: ResponseDraft, response: Response): Promise<void> {
    await this.streams.withPlace('foreground', response, async (stream) => {
      await this.admission.requireUnstored(draft);
      await stream.live((signal) => this.responses.run(draft, signal));
    });
  }
}
