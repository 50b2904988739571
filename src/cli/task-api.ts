import type { TaskObject } from './api-objects.js';
import type { Api } from './api.js';
import type { List } from './listing.js';
import { wholeId } from './prefixes.js';

const PAGE = 100;
/** A prefix is looked for among this many of the newest tasks. */
const MOST_PAGES = 50;

export type TaskQuery = Readonly<Record<string, string | number | undefined>>;

/** One page of GET /v1/tasks. */
export function readTasks(api: Api, query: TaskQuery): Promise<List<TaskObject>> {
  return api.json<List<TaskObject>>('GET', `/v1/tasks?${queryText(query)}`);
}

/** Whole id of a task; that of its response names it too. */
export function taskId(api: Api, typed: string): Promise<string> {
  return wholeId(typed, { prefix: 'task', otherNames: ['resp'] }, async function* () {
    for await (const { id } of allTasks(api, {})) yield id;
  });
}

/** Tasks in pages, newest first. */
export async function* allTasks(api: Api, query: TaskQuery): AsyncGenerator<TaskObject> {
  let after: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const list = await readTasks(api, { ...query, limit: PAGE, after });
    yield* list.data;
    if (!list.has_more || !list.last_id) return;
    after = list.last_id;
  }
}

export function queryText(query: TaskQuery): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}
