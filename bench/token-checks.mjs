// Does a refused token tell by its time what is wrong with it? 20,000 checks of each kind through the ClientDirectory,
// in turn: the right prefix with a wrong rest (with its check sum and without), wholly wrong, of another length, and of
// no client (CASES BL-38).
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { percentile } from './service.mjs';

const built = (path) => import(new URL(`../dist/${path}`, import.meta.url).href);

export default async function tokenChecks([count = '20000']) {
  const { newAccessToken } = await built('src/clients/access-token.js');
  const { ClientDirectory, createClient } = await built('src/clients/index.js');
  const { openStore } = await built('src/database/index.js');
  const { ENTITIES } = await built('src/entities.js');
  const { MIGRATIONS } = await built('migrations/index.js');
  const dataDir = await mkdtemp(join(tmpdir(), 'lmsp-bench-'));
  const store = await openStore({
    dataDir,
    entities: ENTITIES,
    migrations: MIGRATIONS,
    unitTimeoutSeconds: 10,
    busyTimeoutMs: 5_000,
    ballastBytes: 0,
  });
  const draft = { name: 'app', scopes: ['tasks:read'], lifeSeconds: null };
  const { token } = await store.units.run((tx) => createClient(tx, draft));
  const directory = new ClientDirectory(store.reader, store.units);
  await directory.authenticate(`Bearer ${token}`);
  const kinds = {
    right_prefix: () => checked(token.slice(0, 30) + newAccessToken().slice(30, 48)),
    right_prefix_no_check_sum: () => token.slice(0, 30) + newAccessToken().slice(30),
    wholly_wrong: () => createHash('sha256').update(newAccessToken()).digest('hex').slice(0, 54),
    other_length: () => newAccessToken().slice(0, 40),
    unknown_client: () => newAccessToken(),
  };
  const times = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
  const codes = new Set();
  for (let i = 0; i < Number(count); i++) {
    for (const [kind, make] of Object.entries(kinds)) {
      const header = `Bearer ${make()}`;
      const began = performance.now();
      const code = await directory.authenticate(header).catch((error) => error.code);
      times[kind].push((performance.now() - began) * 1000);
      codes.add(code);
    }
  }
  await store.close();
  await rm(dataDir, { recursive: true, force: true });
  const figures = Object.entries(times).map(([kind, us]) => [
    kind,
    { p25_us: round(percentile(us, 25)), median_us: round(percentile(us, 50)), p75_us: round(percentile(us, 75)) },
  ]);
  return { checks_of_each: Number(count), codes: [...codes], ...Object.fromEntries(figures) };
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** With the check sum that belongs to it. */
function checked(body) {
  let digits = '';
  for (let rest = crc32(body); digits.length < 6; rest = Math.floor(rest / 62)) digits = ALPHABET[rest % 62] + digits;
  return body + digits;
}

const round = (value) => Math.round(value * 10) / 10;
