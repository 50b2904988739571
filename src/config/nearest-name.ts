const FARTHEST = 4;

/** The name a mistyped one probably meant: fewest edits, at most 4; null if none is near. */
export function nearestName(typed: string, names: readonly string[]): string | null {
  let best: string | null = null;
  let fewest = FARTHEST + 1;
  for (const name of names) {
    const edits = editDistance(typed, name);
    if (edits < fewest) [best, fewest] = [name, edits];
  }
  return best;
}

/** Levenshtein distance, one row of the table at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
