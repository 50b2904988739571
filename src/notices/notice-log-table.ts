import type { NoticeName, NoticeTypes } from './notice-types.js';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** How one notice is logged. A field that is not listed never reaches the log (allow-list, OPERATE 4). */
export interface LogRow<Notice> {
  level: LogLevel | ((notice: Notice) => LogLevel);
  msg: string;
  fields: readonly (keyof Notice & string)[];
  /** The line belongs to the request that is being answered and carries its id. */
  ofRequest?: true;
}

const PROBES: readonly string[] = ['/health', '/ready', '/metrics'];

/** Info tells the life of the service and one line per task end; nothing per request, token or poll. */
export const NOTICE_LOG: { readonly [N in NoticeName]: LogRow<NoticeTypes[N]> } = {
  'service.starting': { level: 'info', msg: 'service starting', fields: ['version', 'pid', 'node'] },
  'service.listening': { level: 'info', msg: 'service listening', fields: ['url', 'host', 'port', 'data_dir'] },
  'service.ready': { level: 'info', msg: 'service ready', fields: ['recovered'] },
  'service.stopping': { level: 'info', msg: 'service stopping', fields: ['signal', 'grace_seconds'] },
  'stop.failed': { level: 'error', msg: 'stage of the stop failed', fields: ['stage', 'error'] },
  'service.stopped': { level: 'info', msg: 'service stopped', fields: ['exit_code'] },
  'config.warning': { level: 'warn', msg: 'setting needs attention', fields: ['key', 'reason'] },
  'extension.loaded': {
    level: 'info',
    msg: 'extension loaded',
    fields: [
      'extension',
      'version',
      'compatible_with',
      'task_types',
      'tables',
      'routes',
      'strategies',
      'scopes',
      'hooks',
      'settings',
    ],
  },
  'tls.reloaded': { level: 'info', msg: 'certificate read again', fields: ['file'] },
  'tls.reload_failed': { level: 'error', msg: 'changed certificate cannot be used', fields: ['file', 'error'] },

  'store.upgraded': { level: 'info', msg: 'store upgraded', fields: ['migrations', 'copy', 'duration_ms'] },

  'owner.token_written': { level: 'info', msg: 'owner token written', fields: ['file'] },

  'owner.token_unwritten': { level: 'error', msg: 'owner token could not be written', fields: ['file', 'error'] },

  'pairing.moved': { level: 'info', msg: 'pairing changed state', fields: ['pairing_id', 'status'] },
  'client.changed': { level: 'info', msg: 'client changed', fields: ['client_id', 'change'] },
  'client.revoked': { level: 'info', msg: 'client revoked', fields: ['client_id'] },
  'client.work_left': { level: 'error', msg: 'work of a revoked client is left', fields: ['client_id', 'error'] },

  'expiry.held': { level: 'info', msg: 'nothing expires for a while', fields: ['gap_ms', 'held_ms'] },

  'retention.removed': {
    level: 'info',
    msg: 'retention removed what was past its time',
    fields: ['kind', 'removed', 'rows', 'batches'],
  },
  'retention.finished': {
    level: ({ removed, freed_pages: freed }) => (removed + freed > 0 ? 'info' : 'debug'),
    msg: 'retention finished',
    fields: ['trigger', 'removed', 'failed_kinds', 'freed_pages', 'held', 'interrupted', 'duration_ms'],
  },
  'retention.failed': { level: 'error', msg: 'retention failed', fields: ['kind', 'error'] },

  'recovery.started': { level: 'info', msg: 'recovery started', fields: ['total'] },
  'recovery.finished': {
    level: 'info',
    msg: 'recovery finished',
    fields: ['total', 'kept', 'requeued', 'resumed', 'failed', 'cancelled', 'duration_ms'],
  },

  'task.transition': {
    level: ({ duration_ms: duration }) => (duration === null ? 'debug' : 'info'),
    msg: 'task changed state',
    fields: ['task_id', 'type', 'model', 'command', 'from', 'to', 'attempt', 'duration_ms', 'error_code'],
  },
  'task.snapshot_unusable': { level: 'warn', msg: 'snapshot unusable', fields: ['task_id', 'reason'] },
  'task.fault': { level: 'error', msg: 'task met an unexpected error', fields: ['task_id', 'error'] },
  'claim.failed': { level: 'error', msg: 'waiting tasks could not be claimed', fields: ['type', 'model', 'error'] },

  'task.type_missing': { level: 'warn', msg: 'tasks wait whose extension is gone', fields: ['type'] },
  'recorder.failed': {
    level: ({ outcome }) => (outcome === 'tried_again' ? 'warn' : 'error'),
    msg: 'recorder of an extension failed',
    fields: ['owner', 'task_id', 'command', 'outcome', 'error'],
  },
  'listener.call_failed': {
    level: 'error',
    msg: 'listener of an extension failed',
    fields: ['owner', 'task_id', 'error'],
  },
  'listener.dropped': {
    // Told at 1, 10, 100 …
    level: ({ dropped }) => (/^10*$/.test(String(dropped)) ? 'warn' : 'trace'),
    msg: 'listener of an extension is too slow',
    fields: ['owner', 'dropped'],
  },

  'sweep.failed': { level: 'error', msg: 'rows without a run could not be looked for', fields: ['error'] },

  'model.loading': { level: 'info', msg: 'model loading', fields: ['model'] },
  'model.loaded': { level: 'info', msg: 'model loaded', fields: ['model', 'duration_ms', 'kv_mode', 'resident_bytes'] },
  'model.warning': { level: 'warn', msg: 'model needs attention', fields: ['model', 'reason'] },
  'model.load_failed': { level: 'error', msg: 'model load failed', fields: ['model', 'error_code', 'reason'] },
  'model.unloaded': { level: 'info', msg: 'model unloaded', fields: ['model', 'reason'] },
  'model.quarantined': { level: 'error', msg: 'model quarantined', fields: ['model'] },
  'pull.received': { level: 'trace', msg: 'bytes of a model received', fields: ['bytes'] },
  'pull.interrupted': { level: 'info', msg: 'hub interrupted a pull', fields: ['task_id', 'reason'] },
  'pull.leftovers_removed': { level: 'info', msg: 'parts of a pull removed', fields: ['folder'] },
  'pull.leftovers_failed': { level: 'warn', msg: 'parts of pulls could not be removed', fields: ['error'] },
  'model.broken': { level: 'error', msg: 'model broken', fields: ['model', 'error_code', 'reason'] },

  'generation.ended': {
    level: 'debug',
    msg: 'generation ended',
    fields: [
      'model',
      'outcome',
      'prompt_tokens',
      'cached_tokens',
      'output_tokens',
      'replayed_tokens',
      'first_token_ms',
      'decode_ms',
    ],
  },
  'runner.lost': { level: 'error', msg: 'runner lost', fields: ['model', 'cause', 'reason'] },
  'runner.log': { level: 'warn', msg: 'runner wrote to standard error', fields: ['model', 'pid', 'line'] },

  'http.request': {
    level: ({ route, status, error_code: code }) => requestLevel(route, status, code),
    msg: 'request answered',
    fields: ['method', 'route', 'status', 'error_code', 'duration_ms', 'bytes', 'client_id', 'task_id'],
    ofRequest: true,
  },
  'http.fault': { level: 'error', msg: 'request met an unexpected error', fields: ['error'], ofRequest: true },

  'store.ballast': {
    level: ({ state }) => (state === 'kept' ? 'info' : 'error'),
    msg: 'room put aside for a full disk',
    fields: ['state'],
  },
  'store.wal_large': {
    level: 'warn',
    msg: 'write-ahead log cannot be emptied',
    fields: ['bytes', 'limit_bytes'],
  },
  'store.wal_folded': { level: 'info', msg: 'write-ahead log emptied', fields: ['bytes'] },
  'store.check_failed': { level: 'warn', msg: 'look at the store failed', fields: ['error'] },

  'step.stored': { level: 'trace', msg: 'step stored', fields: ['task_id', 'events', 'duration_ms'] },
  'unit.committed': {
    level: ({ kind }) => (kind === 'steps' ? 'trace' : 'debug'),
    msg: 'unit committed',
    fields: ['kind', 'operations', 'duration_ms'],
  },
  'storage.retry': { level: 'warn', msg: 'write is tried again', fields: ['fault'] },
  'listener.failed': { level: 'error', msg: 'listener of a notice failed', fields: ['notice', 'error'] },
};

function requestLevel(route: string, status: number, code: string | null): LogLevel {
  if (PROBES.includes(route)) return 'trace';
  // A program that polls while the owner thinks about it.
  if (code === 'authorization_pending') return 'debug';
  if (status >= 500) return 'error';
  return status >= 400 ? 'warn' : 'debug';
}
