import { Option, type Command } from 'commander';
import { decimal, whole, works } from './command-line.js';
import type { AddOptions, PullOptions } from './commands/models.js';
import type { RunOptions } from './commands/run.js';

const ON_RESTART = ['fail', 'retry', 'resume'];

/** Commands about models and what they do. */
export function addWorkCommands(program: Command): void {
  addRun(program);
  addModels(program);
}

function addRun(program: Command): void {
  const run = program
    .command('run')
    .description('let a model answer')
    .argument('<model>', 'id of the model')
    .argument('[prompt]', 'what to say to it; - or nothing reads standard input')
    .option('--system <text>', 'instructions')
    .option('--max-tokens <n>', 'longest answer', whole(1))
    .option('--temperature <n>', 'how freely words are drawn', decimal)
    .option('--seed <n>', 'the same seed gives the same answer', whole(0))
    .option('--background', 'print the id of a task and leave')
    .addOption(
      new Option('--on-restart <policy>', 'what becomes of a background task at a restart').choices(ON_RESTART),
    )
    .option('--no-stream', 'print the answer once it is whole');
  works<[string, string | undefined, RunOptions]>(run, async () => (await import('./commands/run.js')).run);
}

function addModels(program: Command): void {
  const load = () => import('./commands/models.js');
  const list = async () => (await load()).listModels;
  works<[object]>(program.command('ls').description('models'), list);
  works<[object]>(
    program.command('ps').description('models in memory'),
    async () => async (session) => (await load()).listModels(session, { loaded: true }),
  );
  const models = program.command('models').description('models: list, show, pull, add, remove, load, unload');
  works<[object]>(models.command('ls').description('list').option('--loaded', 'only those in memory'), list);
  works<[string]>(models.command('show <model>').description('one model'), async () => (await load()).showModel);
  const add = models
    .command('add <folder>')
    .description('a model from a folder of files')
    .requiredOption('--id <id>', 'what it is called by')
    .option('--type <type>', 'llm, embedding, rerank', 'llm')
    .option('--dtype <dtype>', 'which of its graphs, e.g. q4')
    .option('--layout <layout>', 'huggingface or genai')
    .option('--activations <how>', 'int8 or file; by the settings of the service')
    .option('--provider <name>', 'cpu or cuda; by the settings of the service')
    .option('--device <n>', 'number of the graphics card', whole(0))
    .option('--context-length <n>', 'a shorter context than it allows', whole(2))
    .option('--alias <id...>', 'further names')
    .option('--no-wait', 'do not wait until its files were read');
  works<[string, AddOptions]>(add, async () => (await load()).addModel);
  const pull = models
    .command('pull <repository>')
    .description('a model from the hub')
    .option('--revision <revision>', 'branch, tag or commit', 'main')
    .option('--id <id>', 'what it is called by; as the repository without')
    .option('--dtype <dtype>', 'which of its graphs, e.g. q4');
  works<[string, PullOptions]>(pull, async () => (await load()).pullModel);
  works<[string]>(models.command('rm <model>').description('forget it'), async () => (await load()).removeModel);
  works<[string]>(models.command('load <model>').description('into memory'), async () => (await load()).loadModel);
  works<[string]>(
    models.command('unload <model>').description('out of memory'),
    async () => (await load()).unloadModel,
  );
}
