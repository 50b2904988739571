import { expect, it } from 'vitest';
import { makeMutant } from './mutant.js';
import { MUTATIONS } from './mutations.js';

/** That each is found is shown by `npm run soak -- --kills 40 --mutation NAME`: it takes its time. */
it.each(Object.keys(MUTATIONS))('the mutation %s still fits the service', async (name) => {
  const mutant = await makeMutant(MUTATIONS[name]!);
  expect(mutant.main).toContain('main.js');
  await mutant.remove();
});
