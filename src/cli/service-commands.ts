import { Option, type Command } from 'commander';
import type { NewExtensionOptions } from './commands/new-extension.js';
import type { ServeOptions } from './commands/serve.js';
import type { StatusOptions } from './commands/status.js';
import type { StopOptions } from './commands/stop.js';
import { whole, works } from './command-line.js';

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

  const stop = program
    .command('stop')
    .description('stop the service cleanly; background work keeps its place')
    .option('--wait [time]', 'wait for its end, a minute if not said otherwise');
  works<[StopOptions]>(stop, async () => (await import('./commands/stop.js')).stop);

  addOperation(program);
  addConfig(program);
  addExtension(program);
}

function addOperation(program: Command): void {
  const load = () => import('./commands/operation.js');
  const retention = program.command('retention').description('what is kept for how long: status, run');
  works<[object]>(
    retention.command('status').description('kept, due and blocked, by kind'),
    async () => (await load()).retentionStatus,
  );
  const run = retention.command('run').description('remove what is due').option('--dry-run', 'only tell');
  works<[{ dryRun?: boolean }]>(run, async () => (await load()).retentionRun);

  const metrics = program.command('metrics [filter]').description('counters and gauges that hold the filter');
  works<[string | undefined]>(metrics, async () => (await load()).metrics);

  const audit = program
    .command('audit')
    .description('who did what, newest first')
    .option('--action <list>', 'only these')
    .option('--limit <n>', 'most of them', whole(1, 1000))
    .option('--after <id>', 'those after this one');
  works<[{ action?: string; limit?: number; after?: string }]>(audit, async () => (await load()).audit);
}

function addConfig(program: Command): void {
  const load = () => import('./commands/config.js');
  const config = program.command('config').description('settings of a service that is started here: show, check');
  const show = config.command('show').description('all of them').option('--origin', 'and where they come from');
  works<[{ origin?: boolean }]>(show, async () => (await load()).showConfig);
  works<[object]>(
    config.command('check').description('whether it would start'),
    async () => (await load()).checkConfig,
  );
}

function addExtension(program: Command): void {
  const extension = program.command('extension').description('parts of the service that somebody else writes: new');
  const make = extension
    .command('new <name>')
    .description('make a package to begin with')
    .option('--dir <path>', 'folder of the package, NAME if not said otherwise');
  works<[string, NewExtensionOptions]>(make, async () => (await import('./commands/new-extension.js')).newExtension);
}
