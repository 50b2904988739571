import type { Response } from 'express';

/** Polling more often than this tells nothing new. */
const RETRY_AFTER_SECONDS = 1;

/** 202 with the JSON of a response: the response is on disk, and this is where to look for it (R1). */
export function answerAccepted(response: Response, id: string, json: string): void {
  response.status(202).setHeader('Location', `/v1/responses/${id}`);
  response.setHeader('Retry-After', RETRY_AFTER_SECONDS);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.send(json);
}
