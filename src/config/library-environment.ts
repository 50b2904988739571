/** What the system's loader and the CUDA libraries read; nothing secret. */
const VARIABLES = ['LD_LIBRARY_PATH', 'CUDA_VISIBLE_DEVICES', 'CUDA_DEVICE_ORDER'] as const;

/** All that the models' processes get of this process's environment. */
export function libraryEnvironment(env: Readonly<Record<string, string | undefined>> = process.env) {
  const found: Record<string, string> = {};
  for (const name of VARIABLES) if (env[name] !== undefined) found[name] = env[name];
  return found;
}
