// npm run bench -- NAME [ARGUMENTS]: runs bench/NAME.mjs on the built service; its last line is one JSON object.
import { existsSync, readdirSync } from 'node:fs';

const [name, ...parameters] = process.argv.slice(2);
const file = new URL(`./${name}.mjs`, import.meta.url);
const names = readdirSync(new URL('.', import.meta.url))
  .filter((entry) => entry.endsWith('.mjs') && !['run.mjs', 'service.mjs', 'leftovers.mjs'].includes(entry))
  .map((entry) => entry.slice(0, -4));
if (!names.includes(name) || !existsSync(file)) {
  console.error(`usage: npm run bench -- NAME\nnames: ${names.join(', ')}`);
  process.exit(2);
}
const { default: measure } = await import(file.href);
console.log(JSON.stringify({ bench: name, node: process.version, ...(await measure(parameters)) }));
