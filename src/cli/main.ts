#!/usr/bin/env node
import { CommanderError } from 'commander';
import { CliError } from './cli-errors.js';
import { EXIT } from './exit-codes.js';
import { buildProgram } from './program.js';
import { oneLine, withoutTokens } from './terminal-text.js';

/** A reader that has seen enough (`| head`) ends the command without a word. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.done);
    process.exit(EXIT.failed);
  });
}

try {
  await buildProgram().parseAsync();
} catch (error) {
  process.exitCode = exitOf(error);
}

function exitOf(error: unknown): number {
  // Commander has printed its help or its complaint.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`lmsp: ${withoutTokens(oneLine(message))}\n`);
  return error instanceof CliError ? error.exitCode : EXIT.failed;
}
