import { expect, it } from 'vitest';
import { renderMetrics } from './metrics-document.js';

it('docs/metrics.md says what the metric table says (vitest -u writes it)', async () => {
  await expect(renderMetrics()).toMatchFileSnapshot('../../docs/metrics.md');
});
