import { EXIT, exitOfAnswer, type Exit } from './exit-codes.js';

/** Ends the command with one line on standard error. */
export class CliError extends Error {
  constructor(
    readonly exitCode: Exit,
    message: string,
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/** What was typed cannot be used. */
export class UsageError extends CliError {
  constructor(message: string) {
    super(EXIT.usage, message);
  }
}

/** Nothing listens there. */
export class NoService extends CliError {
  constructor(url: string) {
    super(EXIT.noService, `no service answers at ${url}; start it with: lmsp serve`);
  }
}

/** The connection broke in the middle of an answer. */
export class ConnectionLost extends CliError {
  constructor() {
    super(EXIT.failed, 'the connection to the service broke before the answer was whole');
  }
}

export class TimeLimit extends CliError {
  constructor(message: string) {
    super(EXIT.timeLimit, message);
  }
}

/** The service answered with an error (WIRE B9). */
export class ApiError extends CliError {
  constructor(
    readonly status: number,
    readonly code: string | null,
    message: string,
  ) {
    super(exitOfAnswer(status, code), code === null ? message : `${message} (${code})`);
  }

  /** It will pass: the service starts, stops or has its hands full. */
  get isPassing(): boolean {
    return this.status === 429 || this.status === 503;
  }
}
