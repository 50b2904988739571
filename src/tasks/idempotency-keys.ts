import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { StoreReader, type Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import type { KeyedRequest } from '../http/index.js';
import { ExpiryClock } from '../retention/index.js';
import { keyReused, KeyHolders, type KeyHolder } from './key-holders.js';
import type { TaskDraft } from './task-drafts.js';
import type { Queryable } from './task-log.js';
import { taskFromRow, type Task, type TaskRow } from './task.js';

const HOUR_MS = 3_600_000;

/** An unfinished task keeps its keys: their time is set at its end. */
const NEVER = Number.MAX_SAFE_INTEGER;

interface HolderRow extends TaskRow {
  key_method: string;
  key_route: string;
  key_text: string;
  key_fingerprint: string;
}

/**
 * Which task each idempotency key made (WIRE B6). A key is written in the unit of its task and stores no answer: that
 * is derived from the task. A row that has expired by the clock of expiry counts as absent.
 */
@Injectable()
export class IdempotencyKeys {
  constructor(
    private readonly reader: StoreReader,
    private readonly clock: ExpiryClock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * The task that the first request with this key made, as it stands; null: this request is the first. Throws
   * idempotency_key_reused when that was another request.
   */
  async find(request: KeyedRequest): Promise<Task | null> {
    const holders = new KeyHolders(await holdersOf(this.reader, [request], this.clock.now()));
    const holder = holders.of(request);
    if (holder instanceof DomainError) throw holder;
    return holder === null ? null : (holders.tasks.get(holder) ?? null);
  }

  /** For one unit: who holds the keys of these requests. */
  async holders(tx: Tx, requests: KeyedRequest[]): Promise<KeyHolders> {
    return new KeyHolders(requests.length === 0 ? [] : await holdersOf(tx, requests, this.clock.now()));
  }

  /**
   * For requests that make no task and whose answer is stored nowhere, such as a new token. Throws
   * idempotency_not_replayable where the same one came before, idempotency_key_reused where another had its key.
   */
  async requireNew(request: KeyedRequest, from: Queryable = this.reader): Promise<void> {
    const [held] = await from.query<{ fingerprint: string }>(
      `select fingerprint from idempotency_keys
       where client_id = ? and method = ? and route = ? and key = ? and expires_at > ?`,
      [request.clientId, request.method, request.route, request.key, this.clock.now()],
    );
    if (!held) return;
    if (held.fingerprint !== request.fingerprint) throw keyReused();
    throw new DomainError('idempotency_not_replayable', 'This was done before, and its answer is not kept.');
  }

  /** Notes such a request, in the unit of what it does; throws as `requireNew` does. */
  async note(tx: Tx, request: KeyedRequest): Promise<void> {
    await this.requireNew(request, tx);
    const keptMs = this.config.retentionIdempotencySeconds * 1000;
    const now = Date.now();
    await tx.execute(
      `INSERT INTO idempotency_keys (client_id, method, route, key, fingerprint, status, created_at, expires_at)
       VALUES (?, ?, ?, ?, ?, 200, ?, ?)
       ON CONFLICT (client_id, method, route, key) DO UPDATE SET fingerprint = excluded.fingerprint, task_id = NULL,
         status = 200, created_at = excluded.created_at, expires_at = excluded.expires_at`,
      [
        ...[request.clientId, request.method, request.route, request.key, request.fingerprint],
        ...[now, keptMs === 0 ? NEVER : now + keptMs],
      ],
    );
  }

  /** Binds the keys of new tasks to them; expired rows are replaced. Throws when a task holds one of the keys. */
  async bind(tx: Tx, drafts: TaskDraft[], now: number): Promise<void> {
    const rows = drafts.flatMap(({ id, keyed }) => (keyed ? [{ ...keyed, taskId: id }] : []));
    if (rows.length === 0) return;
    const written = await tx.query(
      `with given as (select value from json_each(?))
       insert into idempotency_keys (client_id, method, route, key, fingerprint, task_id, created_at, expires_at)
       select value->>'clientId', value->>'method', value->>'route', value->>'key', value->>'fingerprint',
         value->>'taskId', ?, ? from given where true
       on conflict (client_id, method, route, key) do update set fingerprint = excluded.fingerprint,
         task_id = excluded.task_id, status = null, location = null, body = null, created_at = excluded.created_at,
         expires_at = excluded.expires_at
       where idempotency_keys.expires_at <= ? returning 1`,
      [JSON.stringify(rows), now, NEVER, this.clock.now()],
    );
    if (written.length !== rows.length) throw new Error('an idempotency key belongs to another task');
  }

  /**
   * At the end of tasks, in the same unit. In the foreground a failed or cancelled one lets its keys go, so that a
   * repeat may succeed; any other keeps them until `retentionIdempotencySeconds` after their creation, and for an hour
   * at least.
   */
  async settle(tx: Tx, tasks: Task[], now: number): Promise<void> {
    const letsGo = (task: Task): boolean => !task.background && task.status !== 'completed';
    const gone = tasks.filter(letsGo).map(({ id }) => id);
    if (gone.length > 0) {
      await tx.execute('DELETE FROM idempotency_keys WHERE task_id IN (SELECT value FROM json_each(?))', [
        JSON.stringify(gone),
      ]);
    }
    const kept = tasks.filter((task) => !letsGo(task)).map(({ id }) => id);
    const keptMs = this.config.retentionIdempotencySeconds * 1000;
    if (keptMs === 0 || kept.length === 0) return;
    await tx.execute(
      `UPDATE idempotency_keys SET expires_at = max(created_at + ?, ?)
       WHERE task_id IN (SELECT value FROM json_each(?))`,
      [keptMs, now + HOUR_MS, JSON.stringify(kept)],
    );
  }
}

/** Key and task in one statement: a task that lets its keys go is never seen with one. */
async function holdersOf(from: Queryable, requests: KeyedRequest[], now: number): Promise<KeyHolder[]> {
  const rows = await from.query<HolderRow>(
    `select tasks.*, held.method as key_method, held.route as key_route, held.key as key_text,
       held.fingerprint as key_fingerprint
     from json_each(?) as wanted
     join idempotency_keys as held on held.client_id = wanted.value->>'clientId'
       and held.method = wanted.value->>'method' and held.route = wanted.value->>'route'
       and held.key = wanted.value->>'key' and held.expires_at > ?
     join tasks on tasks.id = held.task_id`,
    [JSON.stringify(requests), now],
  );
  return rows.map((row) => ({
    task: taskFromRow(row),
    request: {
      clientId: row.client_id,
      method: row.key_method,
      route: row.key_route,
      key: row.key_text,
      fingerprint: row.key_fingerprint,
    },
  }));
}
