import { afterEach, describe, expect, it } from 'vitest';
import { FakeEngine } from '../support/fake-engine.js';
import { HttpApp } from '../support/http-app.js';

let http: HttpApp;
afterEach(() => http.close());

describe('on_restart that is not given (WIRE B3)', () => {
  it.each([
    [true, 'resume'],
    [false, 'retry'],
  ])('is, for a model with exact.resume %s, %s', async (resume, policy) => {
    http = await HttpApp.start({ engine: new FakeEngine({ exact: { resume, batchInvariant: true } }) });
    expect((await http.call('POST', '/v1/models/load', { model: 'pocket' })).status).toBe(200);
    const { body } = await http.create({ background: true });
    expect(body.lmsp.on_restart).toBe(policy);
    const { body: asked } = await http.create({ background: true, on_restart: 'resume' });
    expect(asked.lmsp.on_restart).toBe('resume');
  });
});
