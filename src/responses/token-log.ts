import type { GenerationStep, LoggedToken } from '../inference/index.js';

/** What the snapshot lines of one start hold: all that a later attempt needs to decode them again (ENGINE 4.7). */
export interface TokenLog {
  /** Of the engine that began; null: nothing has been generated yet, and any engine may begin. */
  fingerprint: string | null;
  tokens: LoggedToken[];
}

/** No fingerprint has it: it is what tokens of the reasoning are counted by. */
export const REASONING_MARK = '*';

/** What the first line of a start tells beside its token. */
export interface StartFacts {
  /** Of the engine. */
  fingerprint: string;
  /** Tokens of the prompt that were not computed again: no later attempt changes them (WIRE B5 invariant 11). */
  cachedTokens: number;
}

/**
 * The snapshot line of a step: the token id, `b` where the row was decoded beside others, `*` where the token is one of the
 * reasoning, and on the first line of a start, each behind a space, the fingerprint of the engine and, unless it is 0, the
 * number of cached tokens.
 */
export function snapshotLine(
  { index, tokenId, kernelClass }: Pick<GenerationStep, 'index' | 'tokenId' | 'kernelClass'>,
  { fingerprint, cachedTokens }: StartFacts,
  reasoning = false,
): string {
  const token = `${tokenId}${kernelClass === 'batch' ? 'b' : ''}${reasoning ? REASONING_MARK : ''}`;
  if (index > 0) return token;
  return cachedTokens > 0 ? `${token} ${fingerprint} ${cachedTokens}` : `${token} ${fingerprint}`;
}

/** By the first line of a start. */
export function cachedTokensOf(firstLine: string): number {
  return Number(firstLine.split(' ')[2] ?? 0);
}

/** Null when this version has not written them. */
export function readTokenLog(lines: readonly string[]): TokenLog | null {
  let fingerprint: string | null = null;
  const tokens: LoggedToken[] = [];
  for (const [index, line] of lines.entries()) {
    const match = (index === 0 ? /^(\d+)(b?)\*? (\S+)(?: \d+)?$/ : /^(\d+)(b?)\*?$/).exec(line);
    if (!match) return null;
    fingerprint ??= match[3] ?? null;
    tokens.push({ tokenId: Number(match[1]), kernelClass: match[2] === 'b' ? 'batch' : 'alone' });
  }
  return { fingerprint, tokens };
}
