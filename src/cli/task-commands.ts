import type { Command } from 'commander';
import { whole, works } from './command-line.js';
import type { TaskListOptions } from './commands/tasks.js';
import type { NewTaskOptions } from './commands/new-task.js';

/** Commands about tasks. */
export function addTaskCommands(program: Command): void {
  const load = () => import('./commands/tasks.js');
  const tasks = program.command('tasks').description('tasks: create, list, show, follow, wait, cancel');

  const create = tasks
    .command('create <type>')
    .description("a task of an extension's type")
    .option('--input <json>', 'what the type asks for; - for standard input (default: {})')
    .option('--on-restart <policy>', 'what becomes of it at a restart: fail, retry or resume');
  works<[string, NewTaskOptions]>(create, async () => (await import('./commands/new-task.js')).createTask);

  const list = tasks
    .command('ls')
    .description('tasks, newest first')
    .option('--status <list>', 'only these, e.g. queued,running')
    .option('--model <id>', 'only of this model')
    .option('--limit <n>', 'most of them', whole(1, 100))
    .option('--after <id>', 'those after this one');
  works<[TaskListOptions]>(list, async () => (await load()).listTasks);

  works<[string]>(tasks.command('show <task>').description('one task'), async () => (await load()).showTask);

  const events = tasks
    .command('events <task>')
    .description('what happened to a task')
    .option('--from <n>', 'first number', whole(0))
    .option('--limit <n>', 'most of them', whole(1, 1000));
  works<[string, { from?: number; limit?: number }]>(events, async () => (await load()).listEvents);

  const tail = tasks
    .command('tail <task>')
    .description('the text of a task as it comes, across restarts of the service')
    .option('--from <n>', 'first number', whole(0));
  works<[string, { from?: number }]>(tail, async () => (await import('./commands/tail.js')).tail);

  const wait = tasks.command('wait <tasks...>').description('until they have ended');
  works<[string[]]>(wait, async () => (await import('./commands/wait.js')).waitForTasks);

  const cancel = tasks
    .command('cancel [tasks...]')
    .description('end them; what they have written stays')
    .option('--queued', 'every one that waits');
  works<[string[], { queued?: boolean }]>(cancel, async () => (await load()).cancelTasks);
}
