import type { Logger } from 'pino';
import { errorFields, type ErrorFields } from './error-fields.js';
import { NOTICE_LOG, type LogRow } from './notice-log-table.js';
import type { NoticeName } from './notice-types.js';
import type { Notices } from './notices.js';
import { currentRequestId } from './request-context.js';

type LoggedValue = string | number | boolean | null | ErrorFields;

const MOST_CHARACTERS = 500;

/**
 * The one listener that logs: level, message and fields come from the table. Returns the function that stops it.
 */
export function logNotices(notices: Notices, logger: Logger): () => void {
  return notices.onAny((name, notice) => {
    const row = NOTICE_LOG[name] as LogRow<typeof notice>;
    const level = typeof row.level === 'function' ? row.level(notice) : row.level;
    if (logger.isLevelEnabled(level)) logger[level](lineOf(name, notice), row.msg);
  });
}

/** The fields of a notice's line: listed ones only, and of those only plain values. */
function lineOf(name: NoticeName, notice: object): Record<string, LoggedValue> {
  const row: { fields: readonly string[]; ofRequest?: true } = NOTICE_LOG[name];
  const line: Record<string, LoggedValue> = {};
  for (const field of row.fields) {
    const value: unknown = Reflect.get(notice, field);
    if (value !== undefined) line[field] = field === 'error' ? errorFields(value) : plain(value);
  }
  // Only here: work that outlives a request (a runner, a batch) would carry the id of whoever set it going.
  const requestId = row.ofRequest ? currentRequestId() : null;
  return requestId === null ? line : { ...line, request_id: requestId };
}

function plain(value: unknown): LoggedValue {
  if (typeof value === 'string') return value.slice(0, MOST_CHARACTERS);
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}
