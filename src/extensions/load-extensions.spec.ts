import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../config/index.js';
import type { Extension } from '../extension.js';
import { loadExtensions } from './load-extensions.js';

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'lmsp-test-'));
});

afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

function file(path: string, text: string): void {
  const full = join(dataDir, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
}

const source = (name: string): string =>
  `{ name: '${name}', version: '1.0.0', compatibleWith: '*', module: class ${name}Module {} }`;

const load = (...names: string[]): Promise<Extension[]> =>
  loadExtensions({ ...loadConfig({}), dataDir, extensions: names });
const namesOf = async (...names: string[]): Promise<string[]> => (await load(...names)).map(({ name }) => name);

describe('the extensions that LMSP_EXTENSIONS names', () => {
  it('are packages and paths in the data folder, by default export or by name, in their order', async () => {
    file('node_modules/desk/package.json', `{ "name": "desk", "type": "module", "exports": "./index.js" }`);
    file('node_modules/desk/index.js', `export default ${source('desk')};`);
    const onlyImport = `{ "type": "module", "exports": { ".": { "types": "./a.d.ts", "import": "./deep/a.js" } } }`;
    file('node_modules/@acme/lamp/package.json', onlyImport);
    file('node_modules/@acme/lamp/deep/a.js', `export const extension = ${source('lamp')};`);
    file('own/chair.mjs', `export const extension = ${source('chair')}; export default 7;`);
    file('own/table/package.json', `{ "type": "module", "main": "main.js" }`);
    file('own/table/main.js', `export default ${source('table')};`);
    const names = ['./own/chair.mjs', 'desk', '@acme/lamp', join(dataDir, 'own/table')];
    expect(await namesOf(...names)).toEqual(['chair', 'desk', 'lamp', 'table']);
  });

  it('are told together where they cannot be loaded, each by its name', async () => {
    file('broken.mjs', `import 'nothing-of-this-name';`);
    file('empty.mjs', `export const other = 1;`);
    file('throws.mjs', `throw new Error('no licence');`);
    const refused = load('./broken.mjs', './empty.mjs', './throws.mjs', 'not-installed');
    await expect(refused).rejects.toMatchObject({
      name: 'StartRefused',
      problems: [
        expect.stringMatching(/^extension \.\/broken\.mjs cannot be loaded: .*nothing-of-this-name/),
        expect.stringMatching(/^extension \.\/empty\.mjs cannot be loaded: .*exports no extension/),
        'extension ./throws.mjs cannot be loaded: no licence',
        expect.stringMatching(/^extension not-installed cannot be loaded: .*not-installed/),
      ],
    });
  });

  it('must not bring a second copy of a package that the service shares with them', async () => {
    file('node_modules/desk/package.json', `{ "name": "desk", "type": "module", "exports": "./index.js" }`);
    file('node_modules/desk/index.js', `export default ${source('desk')};`);
    file('node_modules/@nestjs/common/package.json', `{ "name": "@nestjs/common" }`);
    await expect(load('desk')).rejects.toThrow(/would import @nestjs\/common from .*, and the service has its own in/);
    rmSync(join(dataDir, 'node_modules/@nestjs'), { recursive: true });
    file('node_modules/lmsp-service/package.json', `{ "name": "lmsp-service" }`);
    await expect(load('desk')).rejects.toThrow(/would import lmsp-service from/);
  });
});
