import { defineConfig } from 'vitest/config';

// The compiled files are tested: what ships, with the metadata that Nest needs and that bundlers leave out.
export default defineConfig({ test: { include: ['dist/**/*.spec.js'], testTimeout: 30_000 } });
