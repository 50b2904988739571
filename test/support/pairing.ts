import type { Answer, HttpApp } from './http-app.js';

export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** A program that pairs: what it sends without any token. */
export class PairingProgram {
  codes: { device_code: string; user_code: string; interval: number } & Record<string, unknown> = {
    device_code: '',
    user_code: '',
    interval: 0,
  };

  constructor(
    private readonly http: HttpApp,
    readonly name = 'notes-app',
  ) {}

  /** A form, as OAuth clients send it. */
  async form(path: string, fields: Record<string, string>): Promise<Answer> {
    const response = await fetch(`${this.http.url}${path}`, { method: 'POST', body: new URLSearchParams(fields) });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  async ask(fields: Record<string, string> = {}): Promise<Answer> {
    const answer = await this.form('/oauth/device_authorization', { client_id: this.name, ...fields });
    if (answer.status === 200) this.codes = answer.body;
    return answer;
  }

  poll(fields: Record<string, string> = {}): Promise<Answer> {
    const { device_code } = this.codes;
    return this.form('/oauth/token', { grant_type: DEVICE_CODE_GRANT, client_id: this.name, device_code, ...fields });
  }

  /** By the owner unless a token is given. */
  decide(what: 'approve' | 'deny', body?: object, token = this.http.token): Promise<Answer> {
    const path = `/v1/pairings/${this.codes.user_code}/${what}`;
    return this.http.call('POST', path, body, { Authorization: `Bearer ${token}` });
  }

  /** Its answer to the owner's yes. */
  async paired(
    fields: Record<string, string> = {},
    approval?: object,
  ): Promise<{ access_token: string; client_id: string }> {
    await this.ask(fields);
    await this.decide('approve', approval);
    return (await this.poll()).body;
  }
}
