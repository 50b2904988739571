import type { Tx } from '../database/index.js';
import type { EngineModelInfo, LoggedToken } from '../inference/index.js';
import type { Task, UnusableSnapshot } from '../tasks/index.js';
import type { GenerationRecord, OutputItem } from './response-object.js';
import { type ResponseStore } from './response-store.js';
import { readTokenLog, type TokenLog } from './token-log.js';

/** An attempt's inheritance. */
export interface ResponsePast {
  tokens: LoggedToken[];
  /** The items that readers have seen. */
  output: OutputItem[];
}

/** How a response is gone on with after its attempt was cut off (ENGINE 4.8, WIRE B6): exactly, or from nothing. */
export class ResponseResumption {
  constructor(private readonly store: ResponseStore) {}

  /**
   * Null when the opened model can go on behind the tokens on disk; the response then shows how many it decodes again.
   * Runs inside the unit of take-up.
   */
  async takeUp(tx: Tx, task: Task, info: EngineModelInfo): Promise<UnusableSnapshot | null> {
    const responseId = task.responseId ?? '';
    const log = readTokenLog(await this.store.tokenLines(task, tx));
    const reason = unusable(log, await this.store.generation(responseId, tx), info);
    if (log && !reason) await this.store.takeUp(tx, responseId, task.attempt + 1, log.tokens.length);
    return reason;
  }

  /** What the task's earlier attempts have left of the present start. */
  async past(task: Task): Promise<ResponsePast> {
    const log = readTokenLog(await this.store.tokenLines(task));
    if (!log) throw new Error(`the token log of task ${task.id} cannot be read`);
    return { tokens: log.tokens, output: await this.store.output(task.responseId ?? '') };
  }
}

function unusable(
  log: TokenLog | null,
  { promptIds, maxOutputTokens, modelDigest }: GenerationRecord,
  info: EngineModelInfo,
): UnusableSnapshot | null {
  if (info.digest !== modelDigest) return 'digest';
  if (!log) return 'format';
  const { tokens, fingerprint } = log;
  // Nothing to decode again: a beginning, which any engine may make.
  if (tokens.length === 0) return null;
  if (!info.exact.resume) return 'exactness';
  if (fingerprint !== info.fingerprint) return 'fingerprint';
  const room = Math.min(maxOutputTokens, info.contextLength - promptIds.length);
  if (tokens.length > room || tokens.some(({ tokenId }) => tokenId >= info.vocabularySize)) return 'format';
  return null;
}
