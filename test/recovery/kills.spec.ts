import { expect, it } from 'vitest';
import { Campaign } from './crash/campaign.js';
import { asLine } from './crash/rules/violation.js';

const KILLS = 30;

it(`${KILLS} kills under load lose nothing (R1 to R6, C1 to C4, WIRE B5; CASES BL-01, BL-02, BL-27)`, async () => {
  const { figures, violations } = await new Campaign({ kills: KILLS, seed: 11, model: 'pocket', lifeMs: 1000 }).run();
  expect(violations.map(asLine)).toEqual([]);
  expect(figures.kills).toBe(KILLS);
  expect(figures.tasks).toBeGreaterThan(KILLS);
  expect(figures.observed).toBeGreaterThan(0);
}, 600_000);
