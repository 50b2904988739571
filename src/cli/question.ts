import { CliError } from './cli-errors.js';
import { EXIT } from './exit-codes.js';
import type { Session } from './session.js';

/**
 * Asks before something that cannot be taken back. `--yes` is the answer already; where nobody can be asked it is needed.
 * Throws CliError when the answer is no.
 */
export async function confirm({ options }: Session, question: string): Promise<void> {
  if (options.yes === true) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CliError(EXIT.usage, `${question} Nobody can be asked here: say --yes`);
  }
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  terminal.on('SIGINT', () => process.exit(EXIT.interrupted));
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(EXIT.failed, 'nothing was done');
}
