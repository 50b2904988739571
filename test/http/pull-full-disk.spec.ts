import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { packageRoot } from '../../src/config/index.js';
import { FakeHub } from '../support/fake-hub.js';
import { HttpApp } from '../support/http-app.js';

const GRAPH = 'onnx/model.onnx';
const ROOM = 400_000;
const repository = 'org/model';

let hub: FakeHub;
let http: HttpApp;
/** What all open files have in common. */
let files: FileHandle;
beforeAll(async () => {
  hub = await FakeHub.start(repository, join(packageRoot(), 'models/pocket-embed'));
  http = await HttpApp.start({ env: { LMSP_HUB_URL: hub.url } });
  const file = await open(join(packageRoot(), 'package.json'));
  files = Object.getPrototypeOf(file) as FileHandle;
  await file.close();
});
afterAll(async () => {
  await http.close();
  await hub.close();
});
afterEach(() => vi.restoreAllMocks());

const noSpace = (): Error => Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });

/** As a disk with so much room for what is appended to files. */
function fillAfter(bytes: number): void {
  const append = Object.getOwnPropertyDescriptor(files, 'appendFile')?.value as FileHandle['appendFile'];
  let room = bytes;
  vi.spyOn(files, 'appendFile').mockImplementation(async function (this: FileHandle, piece) {
    const fits = (piece as Uint8Array).subarray(0, room);
    room -= fits.length;
    await append.call(this, fits);
    if (fits.length < piece.length) throw noSpace();
  });
}

async function ended() {
  const { status, body } = await http.call('POST', '/v1/models/pull', { repository });
  expect(status).toBe(202);
  return http.task(body.id, 'completed', 'failed');
}

describe('a disk that is full in the middle of a pull (CASES BL-15)', () => {
  it('fails it with storage_full; what was written is kept, and a repeat goes on at its offset', async () => {
    vi.spyOn(files, 'writeFile').mockRejectedValueOnce(noSpace());
    const first = await ended();
    expect(first.error, 'no room for the note of what is pulled').toMatchObject({ code: 'storage_full' });
    expect(hub.served.size).toBe(0);

    const small = hub.files.filter(({ path }) => path !== GRAPH).reduce((sum, { bytes }) => sum + bytes.length, 0);
    fillAfter(ROOM);
    const second = await ended();
    expect(second.error).toMatchObject({ code: 'storage_full', message: expect.stringContaining('ENOSPC') });
    expect((await http.call('GET', `/v1/models/${encodeURIComponent(repository)}`)).status).toBe(404);
    vi.restoreAllMocks();

    const before = hub.requests.length;
    expect((await ended()).status).toBe('completed');
    const [range] = hub.requests.slice(before).flatMap((request) => (request.range === null ? [] : [request.range]));
    const offset = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1]);
    expect(offset).toBeGreaterThan(0);
    expect(offset, 'all that the disk took').toBeGreaterThanOrEqual(ROOM - small);
    expect(http.faults).toEqual([]);
  });
});
