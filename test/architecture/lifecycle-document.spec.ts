import { expect, it } from 'vitest';
import { renderLifecycle } from './lifecycle-document.js';

it('docs/task-lifecycle.md says what the transition table says (vitest -u writes it)', async () => {
  await expect(renderLifecycle()).toMatchFileSnapshot('../../docs/task-lifecycle.md');
});
