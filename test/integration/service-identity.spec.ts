import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadServiceIdentity } from '../../src/operations/service-identity.js';
import { openTestStore, type TestStore } from '../support/store.js';

describe('the identity of the service (S2a)', () => {
  let opened: TestStore;

  beforeEach(async () => {
    opened = await openTestStore();
  });

  afterEach(() => opened.close());

  it('is made at the first start and kept by the store, with a new instance at each start', async () => {
    const first = await loadServiceIdentity(opened.store.units);
    const second = await loadServiceIdentity(opened.store.units);
    expect(first.id).toMatch(/^service_[0-9a-z]{26}$/);
    expect(second.id).toBe(first.id);
    expect([first.incarnation, second.incarnation]).toEqual([1, 1]);
    expect(second.instanceId).not.toBe(first.instanceId);
  });

  it('shows the incarnation that a restored copy was given (OPERATE 5.6)', async () => {
    const { id } = await loadServiceIdentity(opened.store.units);
    await opened.store.units.run((tx) => tx.execute(`update service_config set value = '2' where key = 'incarnation'`));
    expect(await loadServiceIdentity(opened.store.units)).toMatchObject({ id, incarnation: 2 });
  });
});
