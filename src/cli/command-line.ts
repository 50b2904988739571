import { InvalidArgumentError, type Command } from 'commander';
import { openSession, type GlobalOptions, type Session } from './session.js';

/** A command's work; resolves with the exit code. */
export type Work<T extends unknown[]> = (session: Session, ...values: T) => Promise<number>;

/**
 * Gives a command its work: loaded only when it runs, so that every other command starts as fast as `--version`.
 * `T` is what the command declares: its arguments, then its options.
 */
export function works<T extends unknown[]>(command: Command, load: () => Promise<Work<T>>): Command {
  return command.action(async (...parameters: unknown[]) => {
    const work = await load();
    const session = openSession(command.optsWithGlobals<GlobalOptions>());
    process.exitCode = await work(session, ...(parameters.slice(0, -1) as T));
  });
}

/** Parser of a whole number that an option takes. */
export function whole(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : -1;
    if (value < least || value > most)
      throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
    return value;
  };
}

/** Parser of a number that an option takes. */
export function decimal(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('Expected a number.');
  return value;
}
