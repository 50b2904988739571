/**
 * What the parts of the service tell about themselves, by name. Payload fields are named as they stand in the log.
 * A notice never carries prompts, outputs, tokens or credentials. Adding one here asks for a row in notice-log-table.
 */
export interface NoticeTypes {
  'service.starting': { version: string; pid: number; node: string };
  /** `data_dir` is a path of this machine; it goes to the log only. */
  'service.listening': { url: string; host: string; port: number; data_dir: string };
  'service.ready': { recovered: number };
  'service.stopping': { signal: string; grace_seconds: number };
  /** A stage of the stop failed; the later ones go on. */
  'stop.failed': { stage: string; error: unknown };
  'service.stopped': { exit_code: number };
  /** A setting that works but deserves a second look. */
  'config.warning': { key: string; reason: string };

  /** A part of the service that somebody else wrote, with what it brings; lists are in words, empty ones are null. */
  'extension.loaded': {
    extension: string;
    version: string;
    compatible_with: string;
    task_types: string | null;
    tables: string | null;
    routes: string | null;
    strategies: string | null;
    scopes: string | null;
    hooks: string | null;
    settings: string | null;
  };

  /** A renewed certificate is in use; `file` is a path of this machine. */
  'tls.reloaded': { file: string };
  /** A changed certificate cannot be used: the one before stays. */
  'tls.reload_failed': { file: string; error: unknown };

  /** An older store was copied and migrated before this start. `copy` is a path of this machine; it goes to the log only. */
  'store.upgraded': { migrations: string; copy: string; duration_ms: number };

  /** A token for the owner was made; it stands in `file`, nowhere else. */
  'owner.token_written': { file: string };

  /** `status`: asked, approved, denied or consumed. */
  'pairing.moved': { pairing_id: string; status: string };
  /** `change`: created, changed or rotated. */
  'client.changed': { client_id: string; change: string };
  /** Its token opens nothing any more; its streams and unfinished work end. */
  'client.revoked': { client_id: string };
  /** The work of a revoked client could not be cancelled; the next start does. */
  'client.work_left': { client_id: string; error: unknown };
  /** The owner's new token could not be written to its file. */
  'owner.token_unwritten': { file: string; error: unknown };

  /** The service was away or the clock was set: nothing expires for so much running time. */
  'expiry.held': { gap_ms: number; held_ms: number };

  /** A run of retention removed something of a kind; `rows` counts those of dependent tables as well. */
  'retention.removed': { kind: string; removed: number; rows: number; batches: number };
  /** `held`: nothing new expired (see expiry.held). `interrupted`: the service stopped, the next run goes on. */
  'retention.finished': {
    trigger: string;
    removed: number;
    failed_kinds: number;
    freed_pages: number;
    held: boolean;
    interrupted: boolean;
    duration_ms: number;
  };
  /** A kind could not be removed, or with null the whole run failed; the next run tries again. */
  'retention.failed': { kind: string | null; error: unknown };

  'recovery.started': { total: number };
  'recovery.finished': {
    total: number;
    kept: number;
    requeued: number;
    resumed: number;
    failed: number;
    cancelled: number;
    duration_ms: number;
  };

  /** One row of the transition table took place. */
  'task.transition': {
    task_id: string;
    client_id: string;
    type: string;
    model: string | null;
    background: boolean;
    on_restart: string;
    command: string;
    from: string | null;
    to: string;
    attempt: number;
    /** Lifecycle events that were appended with it. */
    events: number;
    /** From the accept to the first claim; set by that claim alone. */
    waited_ms: number | null;
    /** Since creation; set exactly when `to` is an end. */
    duration_ms: number | null;
    error_code: string | null;
  };

  /** Nothing could be gone on from: the task starts anew from empty output (row 17). */
  'task.snapshot_unusable': { task_id: string; reason: string };
  /** A run or a row met an unexpected error; the task is left to the next recovery unless it could be failed. */
  'task.fault': { task_id: string; error: unknown };
  /** Waiting tasks of a lane could not be claimed; it is tried again. */
  'claim.failed': { type: string; model: string | null; error: unknown };

  /**
   * A recorder of an extension threw, and the unit was rolled back. `outcome`: tried_again; from the third time on the change
   * is written without its rows (omitted), the create is refused, or the task fails in its place (replaced).
   */
  'recorder.failed': { owner: string; task_id: string; command: string; outcome: string; error: unknown };
  /** A listener of an extension threw; nothing is tried again. */
  'listener.call_failed': { owner: string; task_id: string; error: unknown };
  /** A listener of an extension is too slow: one more change was not told to it; `dropped` so far. */
  'listener.dropped': { owner: string; dropped: number };

  /** Tasks wait whose type nobody has registered: their extension is gone. They can be cancelled. */
  'task.type_missing': { type: string };

  /** Rows without a run could not be looked for; it is tried again. */
  'sweep.failed': { error: unknown };

  'model.loading': { model: string };
  'model.loaded': { model: string; duration_ms: number; kv_mode: string; resident_bytes: number };
  /** The model works, but not as its user may expect: no end token, say. */
  'model.warning': { model: string; reason: string };
  'model.load_failed': { model: string; error_code: string; reason: string };
  'model.unloaded': { model: string; reason: string };
  /** Its process died again and again; nothing of it runs until it is loaded by hand. */
  'model.quarantined': { model: string };
  'model.broken': { model: string; error_code: string; reason: string };

  /** Bytes of a model came from the hub, whether they could be used or not. */
  'pull.received': { bytes: number };
  /** The hub was cut off, stalled or was busy; it is asked again. */
  'pull.interrupted': { task_id: string; reason: string };
  /** Parts of a pull that was given up are past their time. */
  'pull.leftovers_removed': { folder: string };
  'pull.leftovers_failed': { error: unknown };

  /** One generation has ended, however. Tokens, and milliseconds: from the claim to the first new token, from it to the last. */
  'generation.ended': {
    model: string;
    outcome: string;
    prompt_tokens: number;
    cached_tokens: number;
    output_tokens: number;
    replayed_tokens: number;
    first_token_ms: number | null;
    decode_ms: number;
  };

  /** `cause`: `stalled` or `ended`; `reason` says it in words. */
  'runner.lost': { model: string; reason: string; cause: string };
  /** A line that the model process or its native library wrote to standard error. */
  'runner.log': { model: string; pid: number; line: string };

  /** A request was answered or its connection closed. `route` is the pattern, without ids and query. */
  'http.request': {
    method: string;
    route: string;
    status: number;
    duration_ms: number;
    bytes: number;
    /** The answer was an event stream: its duration is the client's choice. */
    stream: boolean;
    /** Code of the error that was the answer. */
    error_code: string | null;
    /** It repeats the answer to an earlier request with its key. */
    replayed: boolean;
    client_id: string | null;
    task_id: string | null;
  };
  /** The unexpected error behind an answer with 500. */
  'http.fault': { error: unknown };

  /** The state of the room put aside: `given_up` to a full disk, `kept` again, or `absent` since the start. */
  'store.ballast': { state: 'kept' | 'given_up' | 'absent' };
  /** A reader of another process, or a lock, keeps the write-ahead log from being emptied. */
  'store.wal_large': { bytes: number; limit_bytes: number };
  'store.wal_folded': { bytes: number };
  /** A look at the room and the write-ahead log failed; the next one comes. */
  'store.check_failed': { error: unknown };

  /** A step of a running task is on disk; `duration_ms`: since it was handed over, its wait included. */
  'step.stored': { task_id: string; events: number; duration_ms: number };
  /** A unit of work is on disk. `operations`: inputs of a batch; `duration_ms`: of the COMMIT, the wait for the disk. */
  'unit.committed': { kind: string; operations: number | null; duration_ms: number };
  /** The database refused a write that is tried again. */
  'storage.retry': { fault: string };
  /** A listener of a notice threw; whoever emitted the notice is not disturbed. */
  'listener.failed': { notice: string; error: unknown };
}

export type NoticeName = keyof NoticeTypes;
