import { Option, type Command } from 'commander';
import type { ServeOptions } from './commands/serve.js';
import type { StatusOptions } from './commands/status.js';
import { works } from './command-line.js';

/** Commands about the service itself. */
export function addServiceCommands(program: Command): void {
  const serve = program
    .command('serve')
    .description('run the service in the foreground')
    .option('--host <host>', 'address to listen on (LMSP_HOST)')
    .option('--port <port>', 'port to listen on (LMSP_PORT)')
    .option('--data-dir <path>', 'folder of the store (LMSP_DATA_DIR)')
    .addOption(new Option('--log-level <level>', 'least level that is logged (LMSP_LOG_LEVEL)'));
  works<[ServeOptions]>(serve, async () => (await import('./commands/serve.js')).serve);

  const status = program
    .command('status')
    .description('whether the service takes work')
    .option('--wait [time]', 'wait until it does, a minute if not said otherwise');
  works<[StatusOptions]>(status, async () => (await import('./commands/status.js')).status);
}
