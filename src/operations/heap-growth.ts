import { setFlagsFromString } from 'node:v8';

/**
 * By how much the heap may grow before what is dead in it is looked for, in percent of what was alive. Left to itself, V8
 * lets a heap of this size double: memory that a service which lies idle most of the time would keep from the models.
 */
const MOST_GROWTH_PERCENT = 20;

/** Read anew at each collection, so that it can be set in the running process, however it was started. */
export function boundHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${MOST_GROWTH_PERCENT}`);
}
