import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ClientDirectory, SCOPES } from '../../../src/clients/index.js';
import { hashOf, newAccessToken } from '../../../src/clients/access-token.js';
import { openTestStore, type TestStore } from '../../support/store.js';
import { waitFor } from '../../support/wait-for.js';

let open: TestStore;
let directory: ClientDirectory;

beforeEach(async () => {
  open = await openTestStore();
  directory = new ClientDirectory(open.store.reader, open.store.units);
});

afterEach(async () => {
  vi.useRealTimers();
  await open.close();
});

/** A client with a token of its own; gives the header that its requests carry. */
async function addClient(columns: Record<string, unknown> = {}): Promise<string> {
  const token = newAccessToken();
  const row = {
    id: 'cli_a',
    name: 'app',
    owner: 0,
    scopes: '["tasks:read"]',
    token_hash: hashOf(token),
    created_at: 1,
    ...columns,
  };
  const names = Object.keys(row);
  const sql = `INSERT INTO clients (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  await open.store.units.run((tx) => tx.execute(sql, Object.values(row)));
  return `Bearer ${token}`;
}

const lastUsed = async (): Promise<number | null> =>
  (await open.store.reader.query<{ at: number | null }>('SELECT last_used_at AS at FROM clients'))[0]!.at;

describe('a token', () => {
  test('names its client; the scheme may be written in any case', async () => {
    const header = await addClient();
    const client = {
      id: 'cli_a',
      name: 'app',
      owner: false,
      scopes: ['tasks:read'],
      tokenHash: hashOf(header.slice('Bearer '.length)),
    };
    expect(await directory.authenticate(header)).toEqual(client);
    expect(await directory.authenticate(header.replace('Bearer', 'bearer '))).toEqual(client);
  });

  test('of the owner holds every scope there is, also those that came after its row', async () => {
    const header = await addClient({ owner: 1, scopes: '[]' });
    expect((await directory.authenticate(header)).scopes).toEqual(SCOPES);
  });

  test.each([undefined, '', 'Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz'])('is missing in %j', async (header) => {
    await expect(directory.authenticate(header)).rejects.toMatchObject({ code: 'missing_api_key' });
  });

  test('that is misspelt, foreign or unknown is invalid, and all three look the same', async () => {
    const header = await addClient();
    const misspelt = header.slice(0, -1) + (header.endsWith('a') ? 'b' : 'a');
    const errors = [misspelt, 'Bearer sk-proj-1234', `Bearer ${newAccessToken()}`].map((value) =>
      directory.authenticate(value).catch((error: Error & { code?: string }) => [error.code, error.message]),
    );
    const seen = await Promise.all(errors);
    expect(seen[0]).toEqual(['invalid_api_key', expect.any(String)]);
    expect(new Set(seen.map((error) => JSON.stringify(error))).size).toBe(1);
  });

  test('is invalid from the moment its client is revoked', async () => {
    const header = await addClient();
    await directory.authenticate(header);
    await open.store.units.run((tx) => tx.execute('UPDATE clients SET revoked_at = 2'));
    await expect(directory.authenticate(header)).rejects.toMatchObject({ code: 'invalid_api_key' });
  });

  test('expires at its time', async () => {
    const header = await addClient({ expires_at: 10_000_000 });
    vi.useFakeTimers({ toFake: ['Date'], now: 9_999_999 });
    await directory.authenticate(header);
    vi.setSystemTime(10_000_000);
    await expect(directory.authenticate(header)).rejects.toMatchObject({ code: 'token_expired' });
  });
});

describe('the time of last use', () => {
  test('is written at most once a minute', async () => {
    const header = await addClient();
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    await Promise.all(Array.from({ length: 5 }, () => directory.authenticate(header)));
    await waitFor('the first note', async () => (await lastUsed()) === 1_000_000);
    vi.setSystemTime(1_059_999);
    await directory.authenticate(header);
    await open.store.units.run(async () => undefined);
    expect(await lastUsed()).toBe(1_000_000);
    vi.setSystemTime(1_060_000);
    await directory.authenticate(header);
    await waitFor('the second note', async () => (await lastUsed()) === 1_060_000);
  });

  test('is known to the next process', async () => {
    const header = await addClient({ last_used_at: 1_000_000 });
    vi.useFakeTimers({ toFake: ['Date'], now: 1_030_000 });
    await new ClientDirectory(open.store.reader, open.store.units).authenticate(header);
    await open.store.units.run(async () => undefined);
    expect(await lastUsed()).toBe(1_000_000);
  });

  test('is not worth failing a request: a store that takes no write still authenticates', async () => {
    const header = await addClient();
    await open.store.units.close();
    expect((await directory.authenticate(header)).id).toBe('cli_a');
  });
});
