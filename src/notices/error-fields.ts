import { DomainError } from '../errors/index.js';

/** What of an error may be written to the log. Allow-list: drivers attach statements and their parameters to errors. */
export interface ErrorFields {
  name: string;
  code: string | null;
  message: string | null;
  /** Stack frames only: a stack begins with the message. */
  frames: string[];
  cause: ErrorFields | null;
}

const MOST_FRAMES = 12;
const MOST_CAUSES = 3;
const MOST_CHARACTERS = 300;

/** Reduces anything thrown to its loggable part; causes to a depth of 3. */
export function errorFields(error: unknown, causes = MOST_CAUSES): ErrorFields {
  if (!(error instanceof Error)) return { name: typeof error, code: null, message: null, frames: [], cause: null };
  const nested = error.cause !== undefined && causes > 0;
  return {
    name: error.name,
    code: codeOf(error),
    message: messageOf(error),
    frames: framesOf(error),
    cause: nested ? errorFields(error.cause, causes - 1) : null,
  };
}

function codeOf(error: Error): string | null {
  if (error instanceof DomainError) return error.code;
  return 'code' in error && typeof error.code === 'string' ? error.code : null;
}

function messageOf(error: Error): string | null {
  // V8 quotes the text it could not parse, and that text may be a prompt.
  return error instanceof SyntaxError ? null : error.message.slice(0, MOST_CHARACTERS);
}

function framesOf(error: Error): string[] {
  const lines = (error.stack ?? '').split('\n').map((line) => line.trim());
  return lines.filter((line) => /^at .*:\d+:\d+\)?$/.test(line)).slice(0, MOST_FRAMES);
}
