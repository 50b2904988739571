/* eslint-disable no-console -- a command: what it prints is its purpose */
import { parseArgs } from 'node:util';
import { fuzz } from './fuzz-run.js';

const SHOWN = 40;

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '1000' }, seed: { type: 'string' } },
});
const requests = Number(values.requests);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
if (![requests, seed].every(Number.isSafeInteger)) {
  console.error('usage: npm run fuzz -- --requests N [--seed S]');
  process.exit(2);
}
const { findings, ...figures } = await fuzz(requests, seed, (line) => console.log(line));
for (const finding of findings.slice(0, SHOWN)) console.log(finding);
console.log(JSON.stringify({ seed, ...figures, findings: findings.length }));
process.exitCode = findings.length === 0 ? 0 : 1;
