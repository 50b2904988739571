import type { Session } from './session.js';
import { oneLine } from './terminal-text.js';

/** The list envelope of the API. */
export interface List<T> {
  object: 'list';
  data: T[];
  last_id?: string | null;
  has_more?: boolean;
}

/** Heading → text of a cell. */
export type Columns<T> = Readonly<Record<string, (row: T) => string | number | null>>;

/** Prints a list in the format that was asked for; `json` is the answer of the API. */
export async function printList<T extends object>(
  { terminal }: Session,
  list: List<T>,
  columns: Columns<T>,
  idOf: (row: T) => string = (row) => (row as { id?: string }).id ?? '',
): Promise<void> {
  if (terminal.format === 'json') return terminal.json(list);
  if (terminal.format === 'jsonl') return list.data.forEach((row) => terminal.json(row));
  if (terminal.format === 'none') return;
  if (terminal.options.quiet) return list.data.forEach((row) => terminal.line(oneLine(idOf(row))));
  for (const line of await tableLines(Object.keys(columns), rowsOf(list.data, columns), terminal.colors.bold)) {
    terminal.line(line);
  }
  if (list.has_more && list.last_id) terminal.aside(`there is more: --after ${list.last_id}`);
}

/** Prints one object: its facts line by line, or the answer of the API. */
export function printObject(
  { terminal }: Session,
  value: object,
  facts: Readonly<Record<string, string | number | null>>,
  id = (value as { id?: string }).id ?? '',
): void {
  if (terminal.format === 'json' || terminal.format === 'jsonl') return terminal.json(value);
  if (terminal.options.quiet) return terminal.line(oneLine(id));
  const width = Math.max(...Object.keys(facts).map((name) => name.length));
  for (const [name, fact] of Object.entries(facts)) {
    if (fact !== null && fact !== '')
      terminal.line(`${terminal.colors.dim(name.padEnd(width))}  ${oneLine(String(fact))}`);
  }
}

function rowsOf<T>(data: readonly T[], columns: Columns<T>): string[][] {
  return data.map((row) => Object.values(columns).map((cell) => oneLine(String(cell(row) ?? '–'))));
}

const BORDERS = (
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right ' +
  'left left-mid mid mid-mid right right-mid middle'
).split(' ');

/** Borderless columns. */
async function tableLines(head: string[], rows: string[][], emphasise: (text: string) => string): Promise<string[]> {
  const { default: Table } = await import('cli-table3');
  const chars = Object.fromEntries(BORDERS.map((part) => [part, '']));
  const table = new Table({
    head: head.map((name) => emphasise(name)),
    chars,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
  });
  table.push(...rows);
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}
