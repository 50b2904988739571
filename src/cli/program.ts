import { Command, Option } from 'commander';
import { readFileSync } from 'node:fs';
import { addAccessCommands } from './access-commands.js';
import { works } from './command-line.js';
import { addServiceCommands } from './service-commands.js';
import { addTaskCommands } from './task-commands.js';
import { addWorkCommands } from './work-commands.js';
import { TIME_STYLES } from './human-text.js';
import { COLOR_MODES, FORMATS } from './terminal.js';
import { withoutTokens } from './terminal-text.js';

/** The command tree (OPERATE 1.2). What a command does is loaded when it runs. */
export function buildProgram({ completes = true } = {}): Command {
  const program = new Command('lmsp')
    .description('A durable local model service: its server and its tools')
    .version(version(), '-V, --version')
    .addOption(new Option('-o, --output <format>', 'how data is printed (default: table)').choices(FORMATS))
    .option('--json', 'as -o json: the object of the API')
    .option('-q, --quiet', 'ids only')
    .option('--url <url>', 'address of the service (LMSP_URL)')
    .option('--token-file <path>', 'file with the access token (or LMSP_TOKEN)')
    .option('--insecure', 'send the token over http to another machine')
    .option('--timeout <time>', 'give up after this time, e.g. 30s')
    .addOption(new Option('--color <when>', 'colours (default: auto)').choices(COLOR_MODES))
    .addOption(new Option('--time <style>', 'times in tables (default: relative)').choices(TIME_STYLES))
    .option('-y, --yes', 'do not ask')
    .option('-v, --verbose', 'say more')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: (text, write) => write(withoutTokens(text.replace(/^error: /, 'lmsp: '))) })
    .showHelpAfterError('(lmsp --help lists the commands)')
    .exitOverride();
  addServiceCommands(program);
  addWorkCommands(program);
  addTaskCommands(program);
  addAccessCommands(program);
  if (completes) addCompletion(program);
  return program;
}

function addCompletion(program: Command): void {
  const load = () => import('./commands/completion.js');
  const script = program.command('completion').description('the completion script for a shell');
  const shell = script.createArgument('<shell>').choices(['bash', 'zsh', 'fish', 'powershell']);
  works<[string]>(script.addArgument(shell), async () => (await load()).printCompletion);
  // What the script asks with each press of Tab: `complete -- words of the line`.
  works<[string[]]>(program.command('complete [words...]', { hidden: true }), async () => (await load()).complete);
}

/** Beside the compiled folder and beside the sources alike: `dist/src/cli` or `src/cli`. */
function version(): string {
  for (const up of ['../../../package.json', '../../package.json']) {
    try {
      return (JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8')) as { version: string }).version;
    } catch {
      continue;
    }
  }
  return 'unknown';
}
