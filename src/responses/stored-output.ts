import { readEvents, readPayloadsOfMany, type Queryable } from '../tasks/index.js';
import { foldEvents, foldOutput, type FoldedEvent } from './response-fold.js';
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
 * make one page, so that many short ones cost one read and a long one no more memory than before; one that ends with its
 * snapshot is not read.
 */
export async function storedOutputs(
  from: Queryable,
  starts: (FoldStart & { last: number })[],
): Promise<Map<string, OutputItem[]>> {
  const outputs = new Map(starts.map(({ taskId, output }) => [taskId, output]));
  for (const group of pages(starts.filter(({ after, last }) => last > after))) {
    const [first] = group;
    if (group.length === 1 && first) {
      outputs.set(first.taskId, await storedOutput(from, first));
      continue;
    }
    const logs = await readPayloadsOfMany(from, group);
    for (const { taskId, output } of group) {
      const events = JSON.parse(logs.get(taskId) ?? '[]') as FoldedEvent[];
      outputs.set(taskId, foldEvents(output, events));
    }
  }
  return outputs;
}

function pages<S extends { after: number; last: number }>(starts: S[]): S[][] {
  const groups: S[][] = [];
  let room = 0;
  for (const start of starts) {
    const events = start.last - start.after;
    if (events > room || groups.length === 0) {
      groups.push([]);
      room = FOLD_PAGE;
    }
    groups.at(-1)?.push(start);
    room -= events;
  }
  return groups;
}
