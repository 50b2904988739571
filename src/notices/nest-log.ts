import type { LoggerService } from '@nestjs/common';
import type { Logger } from 'pino';
import { errorFields } from './error-fields.js';

/**
 * Nest's own lines in our log. What Nest tells at its "log" level (routes mapped, modules wired) is debug here; of an
 * error only the loggable part is kept.
 */
export class NestLog implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  /** Nest passes the context's name last; in between may stand a stack, which begins with the error's message. */
  private write(level: 'trace' | 'debug' | 'warn' | 'error' | 'fatal', message: unknown, rest: unknown[]): void {
    const context = rest.at(-1);
    const line = { context: typeof context === 'string' && !context.includes('\n') ? context : null };
    if (typeof message === 'string') this.logger[level](line, message);
    else this.logger[level]({ ...line, error: errorFields(message) }, 'framework message');
  }
}
