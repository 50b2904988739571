import { Inject, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { CONFIG, type Config } from '../config/index.js';
import { DomainError, type ErrorCode } from '../errors/index.js';
import { disconnection, EventStreams, type EventFrame } from '../http/index.js';
import { EphemeralResponses, successOf, WorkAdmission, type ResponseDraft } from '../responses/index.js';
import type { StoredEvent } from '../tasks/index.js';
import { endOf, type CompletionView } from './completion-view.js';
import type { FieldNames } from './field-names.js';
import type { ResponseEvent } from './response-event.js';

export interface CompletionJob {
  draft: ResponseDraft;
  view: CompletionView;
  names: FieldNames;
}

/** One line of data, or the failure that takes its place as the last one. */
type Told = AsyncGenerator<string | DomainError, void>;

const DONE = '[DONE]';

/**
 * Answers with a response that is not stored, in another form. It belongs to its connection and runs where every
 * response with store=false does.
 */
@Injectable()
export class CompletionAnswers {
  constructor(
    private readonly responses: EphemeralResponses,
    private readonly streams: EventStreams,
    private readonly admission: WorkAdmission,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Throws the failure of the response. */
  async answer({ draft, view, names }: CompletionJob, response: Response): Promise<void> {
    await this.admission.requireUnstored(draft);
    const run = this.responses.run(draft, disconnection(response));
    let event = await run.next();
    while (!event.done) event = await run.next();
    if (!event.value) return;
    try {
      response.json(view.whole(successOf(event.value)));
    } catch (error) {
      throw error instanceof DomainError ? names.inTheirs(error) : error;
    }
  }

  /**
   * Throws a failure that comes before there was anything to tell, so that it is a status; one that comes later is the
   * last data. Whoever waits for longer than a heartbeat gets the head of the stream and heartbeats.
   */
  async stream(job: CompletionJob, response: Response): Promise<void> {
    await this.streams.withPlace('foreground', async (send) => {
      await this.admission.requireUnstored(job.draft);
      const stop = new AbortController();
      const told = tell(job, this.responses.run(job.draft, AbortSignal.any([disconnection(response), stop.signal])));
      try {
        const first = told.next();
        const early = await withinTime(first, this.config.heartbeatSeconds * 1000);
        if (early?.value instanceof DomainError) throw early.value;
        await send(response, {
          frames: (signal) => {
            if (signal.aborted) stop.abort();
            else signal.addEventListener('abort', () => stop.abort(), { once: true });
            return frames(first, told);
          },
        });
      } finally {
        stop.abort();
        await told.return();
      }
    });
  }
}

async function* tell({ view, names }: CompletionJob, events: AsyncIterable<StoredEvent>): Told {
  for await (const { payload } of events) {
    const event = JSON.parse(payload) as ResponseEvent;
    if (event.type === 'error') {
      yield names.inTheirs(failureOf(payload));
      return;
    }
    for (const chunk of view.chunks(event)) yield JSON.stringify(chunk);
    if (endOf(event)) yield DONE;
  }
}

async function* frames(first: ReturnType<Told['next']>, rest: Told): AsyncGenerator<EventFrame> {
  for (let each = await first; !each.done; each = await rest.next()) {
    const { value } = each;
    yield { data: value instanceof DomainError ? JSON.stringify({ error: value.toBody() }) : value };
  }
}

/** Of an `error` event. Only codes of ours are ever told. */
function failureOf(payload: string): DomainError {
  const { code, message, param } = JSON.parse(payload) as { code: ErrorCode; message: string; param: string | null };
  return new DomainError(code, message, { param });
}

/** What the work comes to, or null when it takes longer. */
async function withinTime<T>(work: Promise<T>, milliseconds: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, milliseconds, null);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
