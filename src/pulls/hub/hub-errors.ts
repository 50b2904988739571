import { DomainError } from '../../errors/index.js';
import { SourceInterrupted } from '../model-source.js';

/** The hub said something that cannot be: what it sends is not to be trusted, and asking again will not help. */
export function hubLied(what: string): DomainError {
  return new DomainError('hub_answer_invalid', `The hub ${what}; check LMSP_HUB_URL, or try another revision.`);
}

export function hubUnavailable(reason: string): DomainError {
  return new DomainError(
    'hub_unavailable',
    `The hub cannot be reached: ${reason}. What was fetched is kept; the same pull goes on from there.`,
    { retryAfterSeconds: 60 },
  );
}

const PASSING = [408, 425, 429];
const LONGEST_PAUSE_SECONDS = 60;

/** The error that an answer of 400 or more stands for; `what` is what was asked for. */
export function refusalOf(status: number, what: string, retryAfter: string | undefined): Error {
  if (status >= 500 || PASSING.includes(status)) {
    const seconds = Number(retryAfter);
    const pause = Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, LONGEST_PAUSE_SECONDS) : null;
    return new SourceInterrupted(`it answered ${status}`, pause);
  }
  if (status === 401 || status === 403) {
    return new DomainError(
      'hub_access_denied',
      `The hub does not let this service read ${what} (${status}). It may not exist, or need a token that was accepted ` +
        'for it: LMSP_HUB_TOKEN.',
      { param: 'repository' },
    );
  }
  if (status === 404) return new DomainError('model_not_found', `The hub has no ${what}.`, { param: 'repository' });
  return hubLied(`answered ${status} for ${what}`);
}
