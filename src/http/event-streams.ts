import { Inject, Injectable } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { CONFIG, type Config } from '../config/index.js';
import { DomainError } from '../errors/index.js';
import { disconnection } from './connection.js';
import type { EventFrame } from './event-frame.js';
import { writeEventStream, type EventStreamOptions } from './event-stream.js';

/** `foreground`: the work belongs to this connection; `reader`: it goes on without it. */
export const STREAM_KINDS = ['foreground', 'reader'] as const;
export type StreamKind = (typeof STREAM_KINDS)[number];

export interface StreamRequest extends Pick<EventStreamOptions, 'retryMs' | 'done'> {
  /** Opens the source, of frames or their bytes; its signal aborts when the client is gone or the service ends the stream. */
  frames: (signal: AbortSignal) => AsyncIterable<EventFrame | Buffer>;
}

/** Sends one stream from its first byte to its end. */
export type SendStream = (response: ServerResponse, request: StreamRequest) => Promise<void>;

const RETRY_SECONDS = 5;

/** Every open event stream of the service: bounded in number, and closed from here when it stops. */
@Injectable()
export class EventStreams {
  private readonly open = new Map<AbortController, StreamKind>();
  private isStopping = false;

  constructor(@Inject(CONFIG) private readonly config: Config) {}

  get count(): number {
    return this.open.size;
  }

  /** Of each kind. */
  counts(): Record<StreamKind, number> {
    const counts = { foreground: 0, reader: 0 };
    for (const kind of this.open.values()) counts[kind] += 1;
    return counts;
  }

  /**
   * Runs `work` with a place for one stream, taken before anything is accepted or read for it. Throws
   * rate_limit_exceeded while as many streams are open as may be.
   */
  async withPlace<T>(kind: StreamKind, work: (send: SendStream) => Promise<T>): Promise<T> {
    if (this.open.size >= this.config.maxStreams) throw tooManyStreams(this.config.maxStreams);
    const ended = new AbortController();
    this.open.set(ended, kind);
    try {
      return await work((response, request) => this.send(response, request, ended.signal));
    } finally {
      this.open.delete(ended);
    }
  }

  /** The service is stopping: a closed connection no longer says that its client lost interest (WIRE B6). */
  get stopping(): boolean {
    return this.isStopping;
  }

  /** First step of a stop: readers are closed bare, so that they resume; foreground answers go on to their end. */
  closeReaders(): void {
    this.isStopping = true;
    for (const [controller, kind] of this.open) if (kind === 'reader') controller.abort();
  }

  /** Last step of a stop: whatever is still open is closed bare. */
  closeAll(): void {
    this.isStopping = true;
    for (const controller of this.open.keys()) controller.abort();
  }

  private async send(
    response: ServerResponse,
    { frames, ...request }: StreamRequest,
    ended: AbortSignal,
  ): Promise<void> {
    const signal = AbortSignal.any([disconnection(response), ended]);
    const { heartbeatSeconds, streamStallSeconds: stallSeconds } = this.config;
    await writeEventStream(response, frames(signal), { ...request, signal, heartbeatSeconds, stallSeconds });
  }
}

function tooManyStreams(limit: number): DomainError {
  return new DomainError('rate_limit_exceeded', `${limit} event streams are open; close some.`, {
    retryAfterSeconds: RETRY_SECONDS,
  });
}
