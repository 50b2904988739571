import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { DomainError } from '../errors/index.js';
import { TextRefused, type Encoded, type EncoderInfo, type EncoderModel } from '../inference/index.js';
import { ModelCatalogue, ModelResidency } from '../models/index.js';
import type { NamedTexts } from './encoding-input.js';

/** Longest wait of node's timers. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface EncodingJob extends NamedTexts {
  type: 'embedding' | 'rerank';
  /** As the request names it. */
  model: string;
  clientId: string;
  /** How long the model is to stay loaded afterwards; null or absent: no wish. */
  keepAliveSeconds?: number | null | undefined;
  query?: string;
  /** Throws what keeps the model from doing what is asked; called before any text is run. */
  check?(info: EncoderInfo): void;
}

export interface EncodingResult {
  modelId: string;
  encoded: Encoded[];
  info: EncoderInfo;
}

/**
 * Runs texts on embedding and rerank models, on seats as text requests have them: models are loaded on demand, clients
 * wait in turn, the wait is bounded. Nothing is stored; the work belongs to its connection.
 */
@Injectable()
export class Encoders {
  constructor(
    private readonly catalogue: ModelCatalogue,
    private readonly residency: ModelResidency,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Throws DomainError: model_not_found, model_unavailable, unsupported_value (model of another type), queue_full,
   * context_length_exceeded and invalid_value (naming the text), model_load_failed, model_error, task_timeout. Null: the
   * client is gone.
   */
  async run(job: EncodingJob, gone: AbortSignal): Promise<EncodingResult | null> {
    const { id } = await this.catalogue.usable(job.model, job.type);
    const deadline = this.deadline();
    try {
      return await this.onSeat(id, job, AbortSignal.any([gone, deadline]));
    } catch (error) {
      if (gone.aborted) return null;
      if (error instanceof TextRefused) throw named(error, job);
      if (deadline.aborted && !(error instanceof DomainError)) throw this.tookTooLong();
      throw error;
    }
  }

  private async onSeat(modelId: string, job: EncodingJob, signal: AbortSignal): Promise<EncodingResult> {
    const seat = await this.residency.waitSeat(modelId, job.clientId, signal);
    try {
      seat.keepLoaded(job.keepAliveSeconds ?? null);
      const model = await unlessAborted(seat.encoder, signal);
      job.check?.(model.info);
      const { texts, query } = job;
      const request = { texts, ...(query !== undefined && { query }) };
      return { modelId, encoded: await model.encode(request, signal), info: model.info };
    } finally {
      seat.release();
    }
  }

  private deadline(): AbortSignal {
    const { taskTimeoutSeconds } = this.config;
    if (taskTimeoutSeconds === 0) return new AbortController().signal;
    return AbortSignal.timeout(Math.min(taskTimeoutSeconds * 1000, LONGEST_TIMER_MS));
  }

  private tookTooLong(): DomainError {
    const message = `The request ran longer than ${this.config.taskTimeoutSeconds} seconds.`;
    return new DomainError('task_timeout', message);
  }
}

function named({ code, message, index }: TextRefused, texts: NamedTexts): DomainError {
  return new DomainError(code, message, { param: texts.param(index) });
}

/** A load goes on for the others when one who waits for it is gone. */
async function unlessAborted(loading: Promise<EncoderModel>, signal: AbortSignal): Promise<EncoderModel> {
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
  });
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([loading, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
