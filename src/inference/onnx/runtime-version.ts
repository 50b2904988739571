import { createRequire } from 'node:module';

/** Version of the inference runtime, read from its package: nothing native is loaded. */
export function runtimeVersion(): string {
  return (createRequire(import.meta.url)('onnxruntime-node/package.json') as { version: string }).version;
}
