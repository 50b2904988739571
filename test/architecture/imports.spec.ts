import { describe, expect, it } from 'vitest';
import { IMPORT_TABLE, importViolations, renderImportTable, type ImportTable } from './import-rules.js';
import { importsOf, readRepositoryFile, readSources } from './source-files.js';

const sources = readSources('src', 'migrations');

const SMALL: ImportTable = { errors: [], tasks: ['errors'], responses: ['errors', 'tasks'], testing: ['tasks'] };

/** Path and source of a file that must be refused, and a part of the complaint. */
const WRONG: readonly [path: string, source: string, complaint: string][] = [
  ['src/tasks/a.ts', `import { x } from '../responses/index.js';`, 'tasks must not import responses'],
  ['src/tasks/a.ts', `import type { X } from '../responses/index.js';`, 'tasks must not import responses'],
  ['src/tasks/a.ts', `export { x } from '../responses/index.js';`, 'tasks must not import responses'],
  ['src/tasks/a.ts', `const x = await import('../responses/index.js');`, 'tasks must not import responses'],
  ['src/tasks/deep/a.ts', `import { x } from '../../responses/index.js';`, 'tasks must not import responses'],
  ['src/tasks/a.ts', `import { x } from '../main.js';`, 'must not import the root files'],
  ['src/tasks/a.ts', `import type { X } from '../extension.js';`, 'must not import the root files'],
  ['src/unlisted/a.ts', `import { x } from '../errors/index.js';`, 'unlisted must not import errors'],
  ['src/responses/a.ts', `import { x } from '../tasks/task.js';`, 'through its index.ts'],
  ['src/main.ts', `import { x } from './tasks/task.js';`, 'through its index.ts'],
  ['src/tasks/a.ts', `import { x } from '../testing/index.js';`, 'tasks must not import testing'],
  ['src/tasks/a.ts', `import { x } from './index.js';`, 'its own index'],
  ['src/tasks/deep/a.ts', `import { x } from '../index.js';`, 'its own index'],
  ['src/tasks/a.ts', `import { x } from '../../test/support/x.js';`, 'nothing outside of src'],
  ['src/tasks/a.ts', `import { x } from '../../migrations/index.js';`, 'nothing outside of src'],
  ['migrations/1-a.ts', `import { x } from '../src/tasks/index.js';`, 'a migration imports nothing of ours'],
];

const RIGHT: readonly [path: string, source: string][] = [
  ['src/responses/a.ts', `import { x } from '../tasks/index.js'; import { y } from './b.js'; import 'node:fs';`],
  ['src/tasks/a.spec.ts', `import { x } from '../../test/support/x.js';`],
  ['src/entities.ts', `import { Task } from './tasks/task.entity.js';`],
  ['src/extensions/a.ts', `import type { X } from '../extension.js';`],
  ['src/testing/a.ts', `import { x } from '../create-app.js'; import { y } from '../tasks/task.js';`],
  ['src/main.ts', `import { x } from './app.module.js'; import { m } from '../migrations/index.js';`],
  ['migrations/index.ts', `import { A } from './1-a.js';`],
];

describe('the import table (HOUSE 2)', () => {
  it('is kept by every file', () => {
    expect(sources.flatMap((file) => importViolations(file, IMPORT_TABLE))).toEqual([]);
  });

  it('has a row for each folder of src, and no other', () => {
    const folders = sources.map(({ path }) => /^src\/([^/]+)\//.exec(path)?.[1]).filter((name) => name !== undefined);
    expect([...new Set(folders)].sort()).toEqual(Object.keys(IMPORT_TABLE).sort());
  });

  it('has edges only up the list, so that no cycle can be written', () => {
    const names = Object.keys(IMPORT_TABLE);
    const down = names.flatMap((name, place) =>
      (IMPORT_TABLE[name] ?? [])
        .filter((other) => !names.slice(0, place).includes(other))
        .map((other) => [name, other]),
    );
    expect(down).toEqual([]);
  });

  it('stands in ARCHITECTURE.md as it is checked here', () => {
    const printed = /<!-- import-table -->\n+([\s\S]*?)\n+<!-- \/import-table -->/.exec(
      readRepositoryFile('ARCHITECTURE.md'),
    );
    expect(printed?.[1]).toBe(renderImportTable(IMPORT_TABLE));
  });
});

describe('the check of imports', () => {
  it.each(WRONG)('refuses in %s: %s', (path, source, complaint) => {
    expect(importViolations({ path, source }, SMALL)).toEqual([expect.stringContaining(complaint)]);
  });

  it.each(RIGHT)('accepts in %s: %s', (path, source) => {
    expect(importViolations({ path, source }, SMALL)).toEqual([]);
  });

  it('sees imports of types inside of other types', () => {
    expect(importsOf({ path: 'a.ts', source: `type X = import('../responses/index.js').X;` })).toEqual([
      '../responses/index.js',
    ]);
  });
});
