import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import { sendError } from './error-answer.js';
import { allowedMethods } from './route-methods.js';
import { WrongTokens } from './wrong-tokens.js';

/**
 * The one way from an error to an answer (WIRE B9): `{"error":{message,type,param,code}}` with the status of the
 * error's kind. Whatever nobody expected is 500 server_error without details, and a notice with them.
 */
@Catch()
export class HttpErrorFilter implements ExceptionFilter {
  constructor(
    private readonly notices: Notices,
    private readonly wrongTokens: WrongTokens,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const error = this.wrongTokens.heard(this.toDomainError(thrown, request, response), request);
    // Half an answer cannot be taken back: the broken connection tells the client that it was one.
    if (response.headersSent) response.destroy();
    else sendError(response, error);
  }

  private toDomainError(thrown: unknown, request: Request, response: Response): DomainError {
    if (thrown instanceof DomainError) return thrown;
    if (thrown instanceof HttpException) {
      const refused = frameworkRefusal(thrown.getStatus(), request, response);
      if (refused) return refused;
    }
    this.notices.emit('http.fault', { error: thrown });
    return new DomainError(
      'server_error',
      'The service failed to answer; its log has the reason under the request id.',
    );
  }
}

/** What the router itself refuses: unknown paths, unknown methods, malformed escapes in a path. */
function frameworkRefusal(status: number, request: Request, response: Response): DomainError | null {
  if (status === 404) {
    const methods = allowedMethods(request);
    if (methods.length === 0) return new DomainError('unknown_url', 'This URL does not exist.');
    response.setHeader('Allow', methods.join(', '));
    return new DomainError('method_not_allowed', `This URL answers to ${methods.join(', ')}.`);
  }
  return status === 400 ? new DomainError('invalid_value', 'The URL has an escape that is no UTF-8 text.') : null;
}
