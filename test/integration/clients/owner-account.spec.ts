import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hashOf, isWellFormed } from '../../../src/clients/access-token.js';
import { ClientDirectory, SCOPES } from '../../../src/clients/index.js';
import { OwnerAccount } from '../../../src/clients/owner-account.js';
import { OwnerTokenFile } from '../../../src/clients/owner-token-file.js';
import { loadConfig } from '../../../src/config/index.js';
import { Notices } from '../../../src/notices/index.js';
import { openTestStore, type TestStore } from '../../support/store.js';

let open: TestStore;
let file: string;
let written: string[];

beforeEach(async () => {
  open = await openTestStore();
  file = join(open.dataDir, 'owner-token');
  written = [];
});

afterEach(() => open.close());

/** What a start of the service does. */
async function start(): Promise<void> {
  const notices = new Notices();
  notices.on('owner.token_written', (notice) => void written.push(JSON.stringify(notice)));
  const config = loadConfig({ LMSP_DATA_DIR: open.dataDir });
  const secret = new OwnerTokenFile(config, notices);
  await new OwnerAccount(open.store.reader, open.store.units, secret).onModuleInit();
}

const token = async (): Promise<string> => (await readFile(file, 'utf8')).trim();
const rows = () => open.store.reader.query<Record<string, unknown>>('SELECT * FROM clients');
const authenticate = (value: string) =>
  new ClientDirectory(open.store.reader, open.store.units).authenticate(`Bearer ${value}`);

test('the first start makes the owner and writes its token for the owner of the process only', async () => {
  await start();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(isWellFormed(await token())).toBe(true);
  expect(await authenticate(await token())).toMatchObject({ name: 'owner', owner: true, scopes: SCOPES });
  expect((await readdir(open.dataDir)).filter((name) => name.startsWith('owner'))).toEqual(['owner-token']);
});

test('neither the store nor the notice holds the token: a hash and a hint, and the path', async () => {
  await start();
  const secret = await token();
  expect(await rows()).toMatchObject([{ token_hash: hashOf(secret), owner: 1, revoked_at: null }]);
  expect(JSON.stringify(await rows())).not.toContain(secret);
  expect(written).toEqual([JSON.stringify({ file })]);
});

test('later starts change nothing', async () => {
  await start();
  const [before, first] = [await rows(), await token()];
  await start();
  expect([await rows(), await token()]).toEqual([before, first]);
  expect(written).toHaveLength(1);
});

test('a lost file is answered with a new token that replaces the old one; the client stays the same', async () => {
  await start();
  const [[before], lost] = [await rows(), await token()];
  await rm(file);
  await start();
  expect(await authenticate(await token())).toMatchObject({ id: before!.id });
  await expect(authenticate(lost)).rejects.toMatchObject({ code: 'invalid_api_key' });
  expect(await rows()).toHaveLength(1);
});

test('a kill between the row and the file is mended by the next start', async () => {
  await writeFile(`${file}.unfinished`, 'half');
  await chmod(`${file}.unfinished`, 0o644);
  await start();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await authenticate(await token())).toMatchObject({ owner: true });
});
