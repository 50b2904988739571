import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DomainError } from '../../../src/errors/index.js';
import { Bandwidth } from '../../../src/pulls/bandwidth.js';
import { FileFetch } from '../../../src/pulls/file-fetch.js';
import { FileThreads } from '../../../src/pulls/file-threads.js';
import { HubClient } from '../../../src/pulls/hub/hub-client.js';
import { HubConnection, type HubConnectionOptions } from '../../../src/pulls/hub/hub-connection.js';
import { Pauses } from '../../../src/pulls/pauses.js';
import { PullFolder } from '../../../src/pulls/pull-folder.js';
import { distEntry } from '../../support/dist-entry.js';
import { FakeHub, type HubFault } from '../../support/fake-hub.js';
import {
  announces,
  answers,
  cutAt,
  flippedBit,
  goesOn,
  otherRange,
  redirectsTo,
  stallAt,
  webPage,
  wholeFile,
} from '../../support/hub-faults.js';
import { temporaryDirectory } from '../../support/store.js';

const WEIGHTS = 'onnx/model.onnx';
const SIZE = 300_000;
const never = new AbortController().signal;

let hub: FakeHub;
let directory: string;
let folder: PullFolder;
let received: number;
let bandwidth: Bandwidth;

beforeEach(async () => {
  hub = await FakeHub.start('org/model', [
    { path: WEIGHTS, bytes: randomBytes(SIZE) },
    { path: 'config.json', bytes: Buffer.from('{}') },
  ]);
  directory = await temporaryDirectory();
  received = 0;
  bandwidth = new Bandwidth(0);
  folder = new PullFolder(directory, { hub: hub.url, repository: 'org/model', commit: hub.commit, dtype: null });
  await folder.prepare();
});
afterEach(async () => {
  await hub.close();
  await rm(directory, { recursive: true, force: true });
});

function client(options: Partial<HubConnectionOptions> = {}): HubClient {
  const at = new URL(hub.url);
  const connection = new HubConnection({
    hub: at,
    token: () => Promise.resolve('hub-secret'),
    userAgent: 'test',
    stallMs: 300,
    ...options,
  });
  return new HubClient(at, connection, { maxFiles: 100, maxListingBytes: 100_000 });
}

async function fetchFile(options: Partial<HubConnectionOptions> = {}, path = WEIGHTS): Promise<void> {
  const at = client(options);
  const listed = (await at.list('org/model', hub.commit, never)).find((file) => file.path === path);
  const fetch = new FileFetch(at, 'org/model', hub.commit, folder, {
    bandwidth,
    threads: new FileThreads(distEntry('pulls/file-worker.js')),
    pauses: () => new Pauses({ tries: 3, firstMs: 1 }),
    floorBytes: 0,
    received: (bytes) => (received += bytes),
  });
  if (!listed) throw new Error(`${path} is not listed`);
  await fetch.fetch(listed, never, () => Promise.resolve());
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: DomainError) => error.code,
  );
const named = (path = WEIGHTS): Promise<boolean> => stat(folder.file(path)).then(Boolean, () => false);

describe('a file that is fetched (ENGINE 5)', () => {
  it.each([WEIGHTS, 'config.json'])('has its name once its digest was checked: %s', async (path) => {
    await fetchFile({}, path);
    expect(await readFile(folder.file(path))).toEqual(hub.bytes(path));
    await fetchFile({}, path);
    expect(hub.served.get(path)).toBe(hub.bytes(path).length);
  });

  it.each<[string, HubFault]>([
    ['is cut', cutAt(SIZE / 2)],
    ['stalls', stallAt(SIZE / 2)],
  ])('goes on at its offset when the answer %s: no byte comes twice', async (_, fault) => {
    hub.fault(WEIGHTS, fault);
    await fetchFile();
    expect(await readFile(folder.file(WEIGHTS))).toEqual(hub.bytes(WEIGHTS));
    expect(received).toBe(SIZE);
    // What still was on its way when the connection broke never came, so the place may lie before the cut.
    const place = Number(/^bytes=(\d+)-$/.exec(hub.requests.at(-1)?.range ?? '')?.[1]);
    expect(place).toBeGreaterThan(0);
    expect(place).toBeLessThanOrEqual(SIZE / 2);
  });

  it('goes on with a hub that knows no ranges: what is there is passed over', async () => {
    await writeFile(folder.part(WEIGHTS), hub.bytes(WEIGHTS).subarray(0, 1000));
    hub.fault(WEIGHTS, wholeFile);
    await fetchFile();
    expect(await readFile(folder.file(WEIGHTS))).toEqual(hub.bytes(WEIGHTS));
  });

  it.each<[string, Buffer]>([
    ['was damaged', Buffer.alloc(1000)],
    ['is longer than the file', Buffer.alloc(SIZE + 1)],
  ])('is fetched anew once where the part on disk %s', async (_, part) => {
    await writeFile(folder.part(WEIGHTS), part);
    await fetchFile();
    expect(await readFile(folder.file(WEIGHTS))).toEqual(hub.bytes(WEIGHTS));
  });

  it('is not fetched again where the part on disk is whole: its digest is taken from disk', async () => {
    await writeFile(folder.part(WEIGHTS), hub.bytes(WEIGHTS));
    await fetchFile();
    expect([received, await named()]).toEqual([0, true]);
  });

  it('comes no faster than LMSP_PULL_BYTES_PER_SECOND: the waits add up to its bytes at that rate', async () => {
    let now = 0;
    bandwidth = new Bandwidth(
      1000,
      () => now,
      (ms) => Promise.resolve((now += ms)),
    );
    await fetchFile();
    expect(now).toBeCloseTo(SIZE);
  });

  it.each([408, 429, 500, 503])(
    'is asked for again when the hub answers %i, a bounded number of times',
    async (status) => {
      hub.fault(WEIGHTS, answers(status, { 'retry-after': '0' }), 2);
      await fetchFile();
      hub.fault('config.json', answers(status), 100);
      expect(await codeOf(fetchFile({}, 'config.json'))).toBe('hub_unavailable');
      expect(hub.requests.filter(({ path }) => path.endsWith('config.json'))).toHaveLength(3);
    },
  );
});

describe('a hub that lies: "source that sends a web page with 200, a wrong length, or stalls" (CASES BL-33)', () => {
  it.each<[string, HubFault, string]>([
    ['a web page with 200', webPage(0, 'text/html; charset=utf-8'), 'hub_answer_invalid'],
    ['a web page that says it is text', webPage(), 'hub_answer_invalid'],
    ['a web page as long as the file', webPage(SIZE), 'model_digest_mismatch'],
    ['a length that is too short', announces(SIZE - 1), 'hub_answer_invalid'],
    ['a length that is too long', announces(SIZE + 1), 'hub_answer_invalid'],
    ['more than it listed', goesOn, 'hub_answer_invalid'],
    ['one wrong bit', flippedBit, 'model_digest_mismatch'],
    ['another part than was asked for', otherRange, 'hub_answer_invalid'],
    ['416', answers(416), 'hub_answer_invalid'],
    ['404', answers(404), 'model_not_found'],
    ['401', answers(401), 'hub_access_denied'],
    ['nothing, again and again', stallAt(0), 'hub_unavailable'],
    ['compressed bytes', answers(200, { 'content-encoding': 'gzip' }), 'hub_answer_invalid'],
  ])('is refused with %s: "an unchecked file never gets its final name"', async (_, fault, code) => {
    await writeFile(folder.part(WEIGHTS), hub.bytes(WEIGHTS).subarray(0, code === 'hub_answer_invalid' ? 10 : 0));
    hub.fault(WEIGHTS, fault, 100);
    expect(await codeOf(fetchFile())).toBe(code);
    expect(await named()).toBe(false);
  });

  it('spoils nothing of what was fetched before', async () => {
    await writeFile(folder.part(WEIGHTS), hub.bytes(WEIGHTS).subarray(0, SIZE / 2));
    hub.fault(WEIGHTS, webPage(SIZE - 1));
    expect(await codeOf(fetchFile())).toBe('hub_answer_invalid');
    await fetchFile();
    expect(hub.served.get(WEIGHTS)).toBe(SIZE / 2);
  });
});

describe('redirects (CASES BL-34)', () => {
  it('are followed within the network of a hub that lies there, and the token stays with the hub', async () => {
    const other = await FakeHub.start('org/model', hub.files);
    hub.fault(WEIGHTS, redirectsTo(`${other.url}/org/model/resolve/${hub.commit}/${WEIGHTS}`));
    await fetchFile();
    await other.close();
    expect(hub.requests.every(({ authorization }) => authorization === 'Bearer hub-secret')).toBe(true);
    expect(other.requests).toEqual([
      { path: `/org/model/resolve/${hub.commit}/${WEIGHTS}`, range: null, authorization: null },
    ]);
  });

  it.each([
    'http://127.0.0.1:1/x',
    'http://localhost:1/x',
    'http://[::1]:1/x',
    'http://2130706433:1/x',
    'http://[::ffff:127.0.0.1]:1/x',
    'http://10.0.0.1/x',
    'http://169.254.169.254/latest/meta-data',
    'http://0.0.0.0:1/x',
    'file:///etc/passwd',
    'http://name:word@example.com/x',
  ])('"source redirects to a loopback address … private redirects refused": %s', async (location) => {
    hub.fault(WEIGHTS, redirectsTo(location), 100);
    expect(await codeOf(fetchFile({ mayBePrivate: () => Promise.resolve(false) }))).toBe('hub_answer_invalid');
  });

  it('end after a few', async () => {
    hub.fault(WEIGHTS, (request) => redirectsTo(request.request.url ?? '/')(request), 100);
    expect(await codeOf(fetchFile())).toBe('hub_answer_invalid');
  });
});

describe('a listing (CASES BL-34)', () => {
  const list = (entries: unknown): Promise<string> => {
    hub.listing = () => entries;
    return codeOf(client().list('org/model', hub.commit, never));
  };
  const oid = 'b'.repeat(40);
  const file = (fields: Record<string, unknown>) => ({ type: 'file', path: 'a', size: 1, oid, ...fields });

  it.each([
    ['../../x'],
    ['..\\x'],
    ['/etc/passwd'],
    ['C:/x'],
    ['a\0b'],
    ['name.'],
    ['name '],
    ['a/./b'],
    ['a//b'],
    ['nul.json'],
    ['x'.repeat(600)],
    [Array(40).fill('a').join('/')],
  ])('"file names ..\\x, absolute, with NUL, with a trailing dot … refused while parsing": %j', async (path) => {
    expect(await list([file({ path })])).toBe('hub_answer_invalid');
  });

  it.each([
    ['a digest that is a path', [file({ lfs: { oid: 'sha256:../../x', size: 1 } })]],
    ['no digest', [file({ oid: undefined })]],
    ['no size', [file({ size: undefined })]],
    ['two sizes', [file({ lfs: { oid: 'c'.repeat(64), size: 2 } })]],
    ['a name twice', [file({}), file({})]],
    ['two names that are one where case does not matter', [file({ path: 'A' }), file({})]],
    ['something that is no file', [file({ type: 'link' })]],
    ['null', [null]],
    ['no list', { error: 'no' }],
    ['too many files', Array.from({ length: 101 }, (_, i) => file({ path: `${i}` }))],
    ['too many bytes', [file({ note: 'x'.repeat(100_000) })]],
  ])('is refused with %s', async (_, entries) => {
    expect(await list(entries)).toBe('hub_answer_invalid');
  });

  it('may have "the same digest for two entries": each is checked by its own', async () => {
    expect(await list([file({ path: 'a' }), file({ path: 'b' })])).toBe('done');
  });

  it('does not lead on to another address', async () => {
    hub.everything = (_, answer) => {
      answer.writeHead(200, { link: '<https://elsewhere.example/x>; rel="next"' }).end('[]');
      return true;
    };
    expect(await codeOf(client().list('org/model', hub.commit, never))).toBe('hub_answer_invalid');
  });

  it('makes no file or folder', async () => {
    await mkdir(directory, { recursive: true });
    await list([file({ path: '../../x' })]);
    expect(await stat(`${directory}/models`).then(Boolean, () => false)).toBe(false);
  });
});
