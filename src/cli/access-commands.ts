import type { Command } from 'commander';
import { works } from './command-line.js';
import type { ApproveOptions } from './commands/pairings.js';
import type { TokenOptions } from './commands/token.js';

/** Commands about who may use the service. */
export function addAccessCommands(program: Command): void {
  addPairings(program);
  addClients(program);
  const create = program
    .command('token')
    .description('tokens: create')
    .command('create')
    .description('a new client; its token goes to standard output')
    .requiredOption('--name <name>', 'what it is for')
    .requiredOption('--scopes <list>', 'what it may do, e.g. models:read,responses:write')
    .option('--expires <time>', 'when it ends, e.g. 30d');
  works<[TokenOptions]>(create, async () => (await import('./commands/token.js')).createToken);
}

function addPairings(program: Command): void {
  const load = () => import('./commands/pairings.js');
  const pair = program.command('pair').description('programs that ask to be let in: list, approve, deny');
  works<[object]>(pair.command('ls').description('those that ask'), async () => (await load()).listPairings);
  const approve = pair
    .command('approve <code>')
    .description('let one in')
    .option('--scopes <list>', 'what it may do; privileged scopes only when named here')
    .option('--name <name>', 'another name')
    .option('--expires <time>', 'when its token ends, e.g. 30d');
  works<[string, ApproveOptions]>(approve, async () => (await load()).approvePairing);
  works<[string]>(pair.command('deny <code>').description('shut one out'), async () => (await load()).denyPairing);
}

function addClients(program: Command): void {
  const load = () => import('./commands/clients.js');
  works<[object]>(program.command('whoami').description('whose token this is'), async () => (await load()).whoami);
  const clients = program.command('clients').description('who has a token: list, show, rename, revoke, rotate');
  works<[object]>(clients.command('ls').description('all of them'), async () => (await load()).listClients);
  works<[string]>(clients.command('show <client>').description('one'), async () => (await load()).showClient);
  const rename = clients.command('rename <client> <name>').description('give it another name');
  works<[string, string]>(rename, async () => (await load()).renameClient);
  const revoke = clients.command('revoke <client>').description('end its token and its tasks');
  works<[string]>(revoke, async () => (await load()).revokeClient);
  const rotate = clients
    .command('rotate <client>')
    .description('a new token in place of the old one')
    .option('--grace <time>', 'the old one lives on so long, an hour at most');
  works<[string, { grace?: string }]>(rotate, async () => (await load()).rotateClient);
}
