import { expect, it } from 'vitest';
import { fuzz } from '../fuzz/fuzz-run.js';

const REQUESTS = 400;

it(`${REQUESTS} requests from the description of the API: each gets an answer that it describes`, async () => {
  const { findings, statuses, storedTasks } = await fuzz(REQUESTS, 20261130, () => undefined);
  expect(findings).toEqual([]);
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '202', '400', '401', '403', '404']));
  expect(storedTasks).toBeGreaterThan(0);
}, 120_000);
