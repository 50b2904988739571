import { describe, expect, it } from 'vitest';
import { StorageFault } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { asLoadError } from './models.errors.js';

describe('what stopped a load (WIRE B4 row 5)', () => {
  it.each([
    ['a full disk', new StorageFault('full', null), 'storage_full'],
    ['a locked store', new StorageFault('busy', null), 'storage_busy'],
    ['a failing disk', new StorageFault('io', null), 'model_load_failed'],
    ['too little memory', new DomainError('insufficient_resources', 'too large'), 'insufficient_resources'],
    ['a refusal that is no load error', new DomainError('queue_full', 'later'), 'model_load_failed'],
    ['anything else', new Error('secret'), 'model_load_failed'],
  ])('%s is told by its code', (_, error, code) => {
    expect(asLoadError('pocket', error)).toMatchObject({ code });
  });
});
