import type { Argument, RootCommand } from '@bomb.sh/tab';
import type { ModelObject } from '../api-objects.js';
import type { Api } from '../api.js';
import { EXIT } from '../exit-codes.js';
import type { List } from '../listing.js';
import type { Session } from '../session.js';
import { readTasks } from '../task-api.js';
import { oneLine } from '../terminal-text.js';

/** Tasks offered: the newest. */
const MOST_TASKS = 30;

/** `lmsp completion`: the script that a shell reads at its start. */
export async function printCompletion(_session: Session, shell: string): Promise<number> {
  const { script } = await import('@bomb.sh/tab');
  script(shell, 'lmsp', 'lmsp');
  return EXIT.done;
}

/** What may follow the words of a command line: commands and options, and ids from the service where one runs. */
export async function complete({ api }: Session, words: string[]): Promise<number> {
  const [{ default: tab }, { buildProgram }] = await Promise.all([
    import('@bomb.sh/tab/commander'),
    import('../program.js'),
  ]);
  const root = tab(buildProgram({ completes: false }), { completionCommandName: 'completion' });
  const ids = await liveIds(api, words);
  for (const argument of argumentsOf(root)) {
    const values = ids.get(argument.name);
    if (values) argument.handler = (offer) => values.forEach(({ id, about }) => offer(id, about));
  }
  root.parse(words);
  return EXIT.done;
}

interface Offer {
  id: string;
  about: string;
}

/** By the name of the argument. A service that is away or slow has nothing to offer. */
async function liveIds(api: Api, words: readonly string[]): Promise<Map<string, Offer[]>> {
  if (words.includes('tasks')) {
    const tasks = await tasksOf(api).catch(() => []);
    return new Map([
      ['task', tasks],
      ['tasks', tasks],
    ]);
  }
  if (!words.includes('run') && !words.includes('models')) return new Map();
  return new Map([['model', await modelsOf(api).catch(() => [])]]);
}

async function tasksOf(api: Api): Promise<Offer[]> {
  const { data } = await readTasks(api, { limit: MOST_TASKS });
  return data.map(({ id, status, model, type }) => ({ id, about: oneLine(`${status} ${model ?? type}`) }));
}

async function modelsOf(api: Api): Promise<Offer[]> {
  const { data } = await api.json<List<ModelObject>>('GET', '/v1/models');
  return data.map(({ id, lmsp }) => ({ id: oneLine(id), about: lmsp.state }));
}

function argumentsOf(root: RootCommand): Argument[] {
  return [...root.commands.values()].flatMap((command) => [...command.arguments.values()]);
}
