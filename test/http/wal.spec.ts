import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreCare } from '../../src/operations/index.js';
import { TaskEventStream } from '../../src/tasks/index.js';
import { ForeignWriter } from '../support/foreign-writer.js';
import { HttpApp } from '../support/http-app.js';

const LIMIT = 1_048_576;

let http: HttpApp;
let stranger: ForeignWriter;
let told: [string, number][];

beforeEach(async () => {
  // No pause between looks that a test could wait for: it makes its own.
  http = await HttpApp.start({ env: { LMSP_WAL_LIMIT_BYTES: String(LIMIT), LMSP_STORE_CHECK_SECONDS: '3600' } });
  stranger = new ForeignWriter(http.store.file);
  told = [];
  http.notices.on('store.wal_large', ({ bytes }) => void told.push(['large', bytes]));
  http.notices.on('store.wal_folded', ({ bytes }) => void told.push(['folded', bytes]));
});

afterEach(async () => {
  await stranger.end();
  await http.close();
});

const look = (): Promise<void> => http.app.get(StoreCare).look();

const walBytes = async (): Promise<number> => (await stat(`${http.store.file}-wal`)).size;

/** Writes until the log has so many bytes. */
async function growTo(bytes: number): Promise<void> {
  while ((await walBytes()) <= bytes) {
    await http.store.units.run((tx) =>
      tx.execute(
        `INSERT INTO service_config (key, value, updated_at) VALUES ('filler', ?, 1)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
        [randomBytes(250_000).toString('hex')],
      ),
    );
  }
}

describe('the write-ahead log (CASES BL-16)', { timeout: 120_000 }, () => {
  it('grows while a reader of another process is stuck, which is told once; all else works, and it shrinks afterwards', async () => {
    await stranger.read();
    // Far beyond the size at which SQLite folds it in by itself.
    await growTo(8 * LIMIT);
    await look();
    await look();
    expect(told).toEqual([['large', expect.any(Number)]]);
    const { lmsp } = await http.accept();
    await http.task(lmsp.task_id, 'completed');
    expect((await http.events(`/v1/tasks/${lmsp.task_id}/events`)).length).toBeGreaterThan(3);
    const large = await walBytes();
    await look();
    expect(await walBytes(), 'held as long as the reader').toBeGreaterThanOrEqual(large);
    await stranger.release();
    await look();
    expect(await walBytes()).toBe(0);
    expect(told.map(([what]) => what)).toEqual(['large', 'folded']);
    await look();
    expect(told).toHaveLength(2);
  });

  it('another process that holds the write lock keeps no look waiting', async () => {
    await growTo(2 * LIMIT);
    await stranger.lock();
    await look();
    expect(told.map(([what]) => what)).toEqual(['large']);
    await stranger.release();
    await http.accept();
    await look();
    expect(await walBytes()).toBe(0);
  });

  it('no reader of ours holds it between two pages of a log (WIRE B5)', async () => {
    const { lmsp } = await http.accept();
    await http.task(lmsp.task_id, 'completed');
    const log = await http.app.get(TaskEventStream, { strict: false }).open(lmsp.task_id, -1);
    const events = log.events(new AbortController().signal)[Symbol.asyncIterator]();
    await events.next();
    await growTo(2 * LIMIT);
    expect(await http.store.units.fold()).toEqual({ complete: true });
    expect(await walBytes()).toBe(0);
    await events.return?.();
  });
});
