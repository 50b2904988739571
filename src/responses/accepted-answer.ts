import type { Response } from 'express';
import type { ResponseObject } from './response-object.js';

/** Polling more often than this tells nothing new. */
const RETRY_AFTER_SECONDS = 1;

/** 202: the response is on disk, and this is where to look for it (R1). */
export function answerAccepted(response: Response, body: ResponseObject): void {
  response.status(202).setHeader('Location', `/v1/responses/${body.id}`);
  response.setHeader('Retry-After', RETRY_AFTER_SECONDS);
  response.json(body);
}
