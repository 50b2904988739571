import { DomainError } from './domain-error.js';

const RETRY_AFTER_SECONDS = 1;

/** The service is on its way out: what is refused or ended for that reason, wherever it is met (WIRE B6 clean stop). */
export class ServiceStopping extends DomainError {
  constructor() {
    super('server_shutting_down', 'The service is stopping; send the request again once it is back.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
    this.name = 'ServiceStopping';
  }
}
