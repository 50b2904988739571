import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/config/index.js';
import { withQuotedCode } from './quoted-code.js';
import { renderReference } from './sdk-reference.js';
import { readRepositoryFile } from './source-files.js';

const FOLDER = 'docs/extending';
const pages = readdirSync(join(packageRoot(), FOLDER), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md') && name !== 'reference.md')
  .map((name) => `${FOLDER}/${name}`);

it('docs/extending/reference.md says what the sources say (vitest -u writes it)', async () => {
  await expect(renderReference()).toMatchFileSnapshot(`../../${FOLDER}/reference.md`);
});

it.each(pages)('%s quotes tested files as they are (vitest -u writes it)', async (page) => {
  const text = readRepositoryFile(page);
  await expect(withQuotedCode(text)).toMatchFileSnapshot(`../../${page}`);
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !existsSync(join(packageRoot(), dirname(page), link)))).toEqual([]);
});

it('every block of TypeScript in the guide is quoted from a tested file', () => {
  const loose = pages.flatMap((page) => readRepositoryFile(page).match(/(?<!-->\n)^```ts\n.*$/gm) ?? []);
  expect(loose).toEqual([]);
});
