/**
 * What is wrong with the place that a graph names for its weights; null: nothing. Only plain paths below the graph's own
 * folder are good, on every system (BL-34).
 */
export function locationFault(location: string): string | null {
  const parts = location.split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..') && !/[\\:\0]/.test(location);
  return isPlain ? null : `external data ${JSON.stringify(location)} is not a path below the graph's folder`;
}
