import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpApp } from '../support/http-app.js';

describe('the description of the API (OPERATE 6)', () => {
  let app: HttpApp;

  beforeAll(async () => {
    app = await HttpApp.start();
  });

  afterAll(() => app.close());

  it('is openapi.json, as it is served without a token (vitest -u writes it)', async () => {
    const response = await fetch(`${app.url}/openapi.json`);
    expect(response.status).toBe(200);
    const document: unknown = await response.json();
    await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot('../../openapi.json');
  });
});
