import { CliError, UsageError } from './cli-errors.js';
import { EXIT } from './exit-codes.js';

/** Characters of an id behind its prefix. */
const WHOLE = 26;
/** Fewer are not looked for: ids begin with their time. */
const FEWEST = 8;
const MOST_CANDIDATES = 10;

/**
 * The whole id for what was typed: the id itself, or a prefix of at least 8 characters behind the `_` that one entry
 * alone has. `otherNames` lead to the same entry: a response is its task. Throws UsageError, and CliError if there is none.
 */
export async function wholeId(
  typed: string,
  kind: { prefix: string; otherNames?: readonly string[] },
  ids: () => AsyncIterable<string>,
): Promise<string> {
  const named = [kind.prefix, ...(kind.otherNames ?? [])].find((name) => typed.startsWith(`${name}_`));
  const suffix = (named === undefined ? typed : typed.slice(named.length + 1)).toLowerCase();
  if (!/^[0-9a-z]+$/.test(suffix)) throw new UsageError(`${typed}: not the id of a ${kind.prefix}`);
  const wanted = `${kind.prefix}_${suffix}`;
  if (suffix.length >= WHOLE) return wanted;
  if (suffix.length < FEWEST) throw new UsageError(`${typed}: name at least ${FEWEST} characters behind the _`);
  const found: string[] = [];
  for await (const id of ids()) {
    if (id.startsWith(wanted) && found.length < MOST_CANDIDATES) found.push(id);
  }
  if (found.length > 1) throw new UsageError(`${typed} is ambiguous: ${found.join(', ')}`);
  if (found.length === 0) throw new CliError(EXIT.notFound, `${typed}: no id begins like this`);
  return found[0]!;
}
