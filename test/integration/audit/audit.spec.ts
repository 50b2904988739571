import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AuditLog, AuditTrail, NO_ORIGIN, type AuditEntry } from '../../../src/audit/index.js';
import { AuditRetention } from '../../../src/audit/audit-retention.js';
import { loadConfig } from '../../../src/config/index.js';
import { RetentionRules } from '../../../src/retention/index.js';
import { openTestStore, type TestStore } from '../../support/store.js';

let open: TestStore;
let trail: AuditTrail;
const log = new AuditLog();

beforeEach(async () => {
  open = await openTestStore();
  trail = new AuditTrail(open.store.reader);
});
afterEach(() => open.close());

const record = (entry: Partial<AuditEntry> = {}): Promise<void> =>
  open.store.units.run((tx) => log.record(tx, { action: 'service.stop', object: null, origin: NO_ORIGIN, ...entry }));

const ALL = { limit: 100, order: 'asc', after: null, actions: null } as const;

describe('the record of who did what', () => {
  test('holds time, actor, action, object, outcome, request id and address', async () => {
    const origin = { actor: 'cli_a', requestId: 'r1', address: '127.0.0.1' };
    await record({ action: 'client.changed', object: 'cli_b', origin, detail: { scopes: ['tasks:read'] } });
    expect((await trail.page(ALL)).events).toEqual([
      {
        id: expect.stringMatching(/^audit_[0-9a-z]{26}$/),
        at: expect.any(Number),
        actor: 'cli_a',
        action: 'client.changed',
        object: 'cli_b',
        outcome: 'done',
        count: 1,
        requestId: 'r1',
        address: '127.0.0.1',
        detail: { scopes: ['tasks:read'] },
      },
    ]);
  });

  test('is written with what it tells of, or not at all', async () => {
    const failing = open.store.units.run(async (tx) => {
      await log.record(tx, { action: 'service.stop', object: null, origin: NO_ORIGIN });
      throw new Error('the unit fails');
    });
    await expect(failing).rejects.toThrow('the unit fails');
    expect((await trail.page(ALL)).events).toEqual([]);
  });

  test('is never changed', async () => {
    await record();
    const change = open.store.units.run((tx) => tx.execute(`UPDATE audit_events SET outcome = 'refused'`));
    await expect(change).rejects.toThrow('audit event is immutable');
  });

  test('is read in pages without gap or overlap, both ways, also of one action only', async () => {
    for (let i = 0; i < 7; i++) await record({ action: i % 2 ? 'client.revoked' : 'service.stop', object: String(i) });
    const seen: (string | null)[] = [];
    for (let after: string | null = null; ;) {
      const { events, hasMore } = await trail.page({ ...ALL, order: 'desc', limit: 3, after });
      seen.push(...events.map(({ object }) => object));
      after = events.at(-1)!.id;
      if (!hasMore) break;
    }
    expect(seen).toEqual(['6', '5', '4', '3', '2', '1', '0']);
    const revoked = await trail.page({ ...ALL, actions: ['client.revoked'] });
    expect(revoked.events.map(({ object }) => object)).toEqual(['1', '3', '5']);
    await expect(trail.page({ ...ALL, after: 'audit_x' })).rejects.toMatchObject({ code: 'invalid_cursor' });
  });

  test('goes by a period of its own, to the millisecond; with 0 it stays', async () => {
    await record({ object: 'kept' });
    const now = Date.now() + 365 * 86_400_000;
    const at = (await trail.page(ALL)).events[0]!.at;
    const rule = (env: Record<string, string> = {}) => new AuditRetention(new RetentionRules(), loadConfig(env));
    const step = (by: AuditRetention, time: number) =>
      open.store.units.run((tx) => by.step(tx, { now: time, limit: 10, cursor: null }));
    expect(await step(rule(), at + 365 * 86_400_000 - 1)).toMatchObject({ removed: 0 });
    expect(await step(rule({ LMSP_RETENTION_AUDIT_SECONDS: '0' }), now * 2)).toMatchObject({ removed: 0 });
    expect(await rule().survey(open.store.reader, now)).toMatchObject({ rows: 1, oldestAt: at, due: 1 });
    expect(await step(rule(), at + 365 * 86_400_000)).toMatchObject({ removed: 1, next: null });
  });
});
