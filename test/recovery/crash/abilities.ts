import type { ServiceProcess } from '../../support/service-process.js';

/** What the service under test can do; asked of itself, so that the harness takes every policy from the day it exists. */
export interface Abilities {
  /** Restart policies it takes. */
  policies: string[];
  /** A repeated create with its key names the same task. */
  idempotency: boolean;
}

/** Asks a service that nobody kills. */
export async function findAbilities(service: ServiceProcess, model: string): Promise<Abilities> {
  const body = { model, input: 'Hello!', background: true };
  const policies: string[] = [];
  for (const policy of ['fail', 'retry', 'resume']) {
    const answer = await service.request('POST', '/v1/responses', { ...body, on_restart: policy });
    if (answer.status === 202) policies.push(policy);
    else if (!(await answer.text()).includes('unsupported_value')) throw new Error(`${policy}: ${answer.status}`);
  }
  const ids = new Set<string | null>();
  for (let i = 0; i < 2; i++) {
    const headers = { 'idempotency-key': 'asked-twice' };
    ids.add((await service.request('POST', '/v1/responses', body, { headers })).headers.get('lmsp-task-id'));
  }
  return { policies, idempotency: ids.size === 1 };
}
