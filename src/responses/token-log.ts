import type { GenerationStep, LoggedToken } from '../inference/index.js';

/** What the snapshot lines of one start hold: all that a later attempt needs to decode them again (ENGINE 4.7). */
export interface TokenLog {
  /** Of the engine that began; null: nothing has been generated yet, and any engine may begin. */
  fingerprint: string | null;
  tokens: LoggedToken[];
}

/** No fingerprint has it: it is what tokens of the reasoning are counted by. */
export const REASONING_MARK = '*';

/**
 * The snapshot line of a step: the token id, `b` where the row was decoded beside others, `*` where the token is one of the
 * reasoning, and on the first line of a start, behind a space, the fingerprint of the engine.
 */
export function snapshotLine(
  { index, tokenId, kernelClass }: Pick<GenerationStep, 'index' | 'tokenId' | 'kernelClass'>,
  fingerprint: string,
  reasoning = false,
): string {
  const token = `${tokenId}${kernelClass === 'batch' ? 'b' : ''}${reasoning ? REASONING_MARK : ''}`;
  return index === 0 ? `${token} ${fingerprint}` : token;
}

/** Null when this version has not written them. */
export function readTokenLog(lines: readonly string[]): TokenLog | null {
  let fingerprint: string | null = null;
  const tokens: LoggedToken[] = [];
  for (const [index, line] of lines.entries()) {
    const match = (index === 0 ? /^(\d+)(b?)\*? (\S+)$/ : /^(\d+)(b?)\*?$/).exec(line);
    if (!match) return null;
    fingerprint ??= match[3] ?? null;
    tokens.push({ tokenId: Number(match[1]), kernelClass: match[2] === 'b' ? 'batch' : 'alone' });
  }
  return { fingerprint, tokens };
}
