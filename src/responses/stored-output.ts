import { readEvents, readEventsOfMany, type Queryable } from '../tasks/index.js';
import { foldOutput } from './response-fold.js';
import type { OutputItem } from './response-object.js';

/** Where the fold of one response's output begins: behind its stored snapshot. */
export interface FoldStart {
  taskId: string;
  output: OutputItem[];
  /** Number of the event that holds the snapshot. */
  after: number;
}

/** Events read at a time; a response has about one for each token. */
const FOLD_PAGE = 1000;

/** The output as the events on disk make it: what readers have seen. */
export async function storedOutput(from: Queryable, { taskId, output, after }: FoldStart): Promise<OutputItem[]> {
  let items = output;
  let last = after;
  for (;;) {
    const events = await readEvents(from, taskId, last, FOLD_PAGE);
    items = foldOutput(
      items,
      events.map((event) => event.payload),
    );
    const end = events.at(-1);
    if (!end || events.length < FOLD_PAGE) return items;
    last = end.sequenceNumber;
  }
}

/**
 * The same for many, by task id; `last` is the number that each log ends with. Logs are read together as long as they
 * make one page, so that many short ones cost one read and a long one no more memory than before.
 */
export async function storedOutputs(
  from: Queryable,
  starts: (FoldStart & { last: number })[],
): Promise<Map<string, OutputItem[]>> {
  const outputs = new Map<string, OutputItem[]>();
  for (const group of pages(starts)) {
    const [first] = group;
    if (group.length === 1 && first) {
      outputs.set(first.taskId, await storedOutput(from, first));
      continue;
    }
    const logs = await readEventsOfMany(from, group);
    for (const { taskId, output } of group) {
      const payloads = logs.get(taskId)?.map((event) => event.payload) ?? [];
      outputs.set(taskId, foldOutput(output, payloads));
    }
  }
  return outputs;
}

function pages<S extends { after: number; last: number }>(starts: S[]): S[][] {
  const groups: S[][] = [];
  let room = 0;
  for (const start of starts) {
    const events = Math.max(start.last - start.after, 0);
    if (events > room || groups.length === 0) {
      groups.push([]);
      room = FOLD_PAGE;
    }
    groups.at(-1)?.push(start);
    room -= events;
  }
  return groups;
}
