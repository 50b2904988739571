import type { Response } from 'express';
import type { ResponseDraft } from './response-store.js';

/** The ways a create is answered (WIRE B3). */
export interface Creation {
  /** As one object. */
  answer(draft: ResponseDraft, response: Response): Promise<void>;
  /** As events from 0. */
  stream(draft: ResponseDraft, response: Response): Promise<void>;
}
