import type { HttpApp } from './http-app.js';
import { waitFor } from './wait-for.js';

/** Registers a folder as a model and waits until its files were read; resolves with the model as it is shown then. */
export async function registerModel(
  http: HttpApp,
  model: { id: string; type: 'llm' | 'embedding' | 'rerank'; directory: string },
): Promise<Record<string, unknown>> {
  const { id, type, directory: path } = model;
  const { status, body } = await http.call('POST', '/v1/models', { id, type, source: { type: 'directory', path } });
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  return waitFor(`${id} to be verified`, async () => {
    const { lmsp } = (await http.call('GET', `/v1/models/${id}`)).body;
    return lmsp.state === 'verifying' ? null : (lmsp as Record<string, unknown>);
  });
}
