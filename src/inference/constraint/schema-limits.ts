import { SchemaRefusal } from './schema-refusal.js';

/** Bounds of a schema, far above what people write. */
const LONGEST_SCHEMA = 100_000;
const MOST_NODES = 5000;
const DEEPEST = 32;
const MOST_CHOICES = 1000;

/** Refuses a schema that is too large before anything is made of it. */
export function checkSchemaSize(schema: unknown): void {
  if (JSON.stringify(schema).length > LONGEST_SCHEMA) {
    throw new SchemaRefusal('', `has more than ${LONGEST_SCHEMA} characters`);
  }
  let nodes = 0;
  const walk = (value: unknown, path: string, depth: number): void => {
    if (typeof value !== 'object' || value === null) return;
    if (depth > DEEPEST) throw new SchemaRefusal(path, `is nested deeper than ${DEEPEST} levels`);
    if (++nodes > MOST_NODES) throw new SchemaRefusal('', `has more than ${MOST_NODES} parts`);
    const entries = Object.entries(value);
    if (Array.isArray(value) && entries.length > MOST_CHOICES) {
      throw new SchemaRefusal(path, `has more than ${MOST_CHOICES} entries`);
    }
    for (const [key, item] of entries) walk(item, `${path}/${key}`, depth + 1);
  };
  walk(schema, '', 0);
}
