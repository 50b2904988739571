import { fileURLToPath } from 'node:url';
import swc from 'unplugin-swc';
import { defineConfig } from 'vitest/config';

/** What extensions see of the service is what is published of it: the compiled files. `npm test` builds first. */
const PUBLISHED = { 'lmsp-service/testing': compiled('testing/index.js'), 'lmsp-service': compiled('index.js') };
const OF_EXTENSIONS = ['examples/**/*.spec.ts', 'test/extending/**/*.spec.ts'];

const SHARED = ['src', 'test/http', 'test/clients', 'test/integration'].map((folder) => `${folder}/**/*.spec.ts`);

export default defineConfig({
  test: {
    projects: [
      // Importing the service costs more than most of these tests: files share a process, one after the other.
      { extends: true, test: { name: 'shared', include: SHARED, isolate: false, restoreMocks: true } },
      {
        extends: true,
        resolve: { alias: PUBLISHED },
        test: {
          name: 'extensions',
          include: OF_EXTENSIONS,
          isolate: false,
          server: { deps: { external: [/\/dist\/(src|migrations)\//] } },
        },
      },
      {
        extends: true,
        test: { name: 'apart', include: ['test/**/*.spec.ts'], exclude: [...SHARED, ...OF_EXTENSIONS] },
      },
    ],
    globalSetup: 'test/support/temporary-root.ts',
    pool: 'forks',
    // The runtime that some tests load into their own process reports its use otherwise.
    env: { ORT_DISABLE_TELEMETRY: '1' },
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    coverage: {
      provider: 'v8',
      include: ['src/**'],
      exclude: ['src/**/*.spec.ts'],
      reporter: ['text', 'json-summary'],
    },
  },
  // esbuild emits no decorator metadata; Nest's injection by type and the DTO pipe need it.
  plugins: [
    swc.vite({
      module: { type: 'es6' },
      jsc: {
        target: 'es2022',
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
      },
    }),
  ],
});

function compiled(file: string): string {
  return fileURLToPath(new URL(`dist/src/${file}`, import.meta.url));
}
