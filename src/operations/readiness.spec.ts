import { describe, expect, it } from 'vitest';
import { DomainError } from '../errors/index.js';
import { ReadinessGate } from './readiness-gate.js';
import { Readiness } from './readiness.js';

/** The code that the gate refuses the URL with; null where it lets the request pass. */
function refusal(readiness: Readiness, originalUrl: string): string | null {
  let passed = false;
  try {
    new ReadinessGate(readiness).use({ originalUrl } as never, {} as never, () => (passed = true));
  } catch (error) {
    if (error instanceof DomainError) return `${error.code} ${error.retryAfterSeconds}`;
    throw error;
  }
  return passed ? null : 'neither passed nor refused';
}

describe('readiness (WIRE B2, /ready)', () => {
  it('names the obstacle in each phase, and none once ready', () => {
    const readiness = new Readiness();
    expect(readiness.obstacle).toBe('starting');
    readiness.recovering(412, 900);
    expect(readiness.obstacle).toBe('recovering 412 of 900');
    readiness.ready();
    expect(readiness.obstacle).toBeNull();
    readiness.stopping();
    expect(readiness.obstacle).toBe('stopping');
  });

  it('is not undone by a recovery that ends after the stop began', () => {
    const readiness = new Readiness();
    readiness.stopping();
    readiness.recovering(1, 2);
    readiness.ready();
    expect(readiness.obstacle).toBe('stopping');
  });
});

describe('the readiness gate (WIRE B6)', () => {
  it('refuses every route but the probes until recovery has ended', () => {
    const readiness = new Readiness();
    for (const enter of [() => undefined, () => readiness.recovering(0, 3)]) {
      enter();
      expect(refusal(readiness, '/v1/tasks?limit=1')).toBe('service_recovering 1');
      expect(refusal(readiness, '/no/such/route')).toBe('service_recovering 1');
      expect(refusal(readiness, '/healthy')).toBe('service_recovering 1');
      expect(refusal(readiness, '/health')).toBeNull();
      expect(refusal(readiness, '/ready?verbose')).toBeNull();
    }
  });

  it('opens with the end of recovery', () => {
    const readiness = new Readiness();
    readiness.ready();
    expect(refusal(readiness, '/v1/tasks')).toBeNull();
  });

  it('closes again when the stop begins', () => {
    const readiness = new Readiness();
    readiness.ready();
    readiness.stopping();
    expect(refusal(readiness, '/v1/responses')).toBe('server_shutting_down 1');
    expect(refusal(readiness, '/health')).toBeNull();
  });
});
