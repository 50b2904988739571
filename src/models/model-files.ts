import { createHash } from 'node:crypto';

/** One file as it enters the digest. `path` is relative to the model's folder, with `/`. */
export interface FileDigest {
  path: string;
  /** SHA-256 of the content, lower-case hex. */
  sha256: string;
}

/** Without one of these no loader gets far: a folder that lacks one is incomplete rather than changed. */
export const REQUIRED_FILES = ['tokenizer.json', 'tokenizer_config.json'] as const;

/** One of these says what the model is. */
export const CONFIG_FILES = ['config.json', 'genai_config.json'] as const;

const OPTIONAL_FILES = [
  ...CONFIG_FILES,
  'generation_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
  'modules.json',
  'sentence_bert_config.json',
  '1_Pooling/config.json',
] as const;

export const FIXED_FILES: readonly string[] = [...REQUIRED_FILES, ...OPTIONAL_FILES];

/** Whether the loader reads the file, so that its bytes decide what the model answers: a changed card breaks nothing. */
export function isLoaderFile(path: string, graphFile: string): boolean {
  return path === graphFile || path.startsWith(`${graphFile}_data`) || FIXED_FILES.includes(path);
}

/** The model's digest (WIRE B2): SHA-256 over the lines `<sha256>  <path>`, sorted by path. */
export function digestOf(files: readonly FileDigest[]): string {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  const lines = sorted.map(({ sha256, path }) => `${sha256}  ${path}\n`).join('');
  return `sha256:${createHash('sha256').update(lines).digest('hex')}`;
}

/** The digest that a folder's SHA256SUMS file claims for the files the loader reads. */
export function declaredDigest(sums: string, graphFile: string): string {
  const files: FileDigest[] = [];
  for (const line of sums.split('\n')) {
    const [, sha256, path] = /^([0-9a-f]{64})[ ]{2}(.+)$/.exec(line) ?? [];
    if (sha256 !== undefined && path !== undefined && isLoaderFile(path, graphFile)) files.push({ path, sha256 });
  }
  return digestOf(files);
}
