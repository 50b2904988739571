// Our service as one of those that are compared: every stream is stored, each token on disk before it is told.
import { performance } from 'node:perf_hooks';
import { eventually, startService } from '../service.mjs';
import { postForEvents } from './sse.mjs';

/** The three tokens that end an answer of SmolLM2: kept out, so that all answers are of one length. */
const NO_END = { 0: -100, 1: -100, 2: -100 };

/** Starts the service with the models of some folders, by name. */
export async function startOurs(folders, threads) {
  const service = await startService({ env: { LMSP_THREADS: String(threads) } });
  for (const [id, path] of Object.entries(folders)) {
    await service.call('POST', '/v1/models', { id, type: 'llm', source: { type: 'directory', path } });
    await eventually(async () => {
      const { lmsp } = JSON.parse((await service.call('GET', `/v1/models/${id}`)).body);
      if (lmsp.state !== 'available') throw new Error(lmsp.state);
    });
  }
  return {
    service,
    /** Something to compare: answers a prompt with the times of its tokens. */
    model: (model) => ({ generate: (prompt, tokens) => generate(service, model, prompt, tokens) }),
    async stop() {
      await service.stop();
      await service.remove();
    },
  };
}

async function generate({ url, token }, model, { instructions, input, ids }, tokens) {
  const body = {
    model,
    instructions,
    input,
    stream: true,
    temperature: 0,
    max_output_tokens: tokens,
    logit_bias: NO_END,
  };
  const asked = performance.now();
  const times = [];
  let usage;
  const data = (payload) => {
    if (payload.startsWith('{"type":"response.output_text.delta"')) times.push(performance.now());
    else if (payload.startsWith('{"type":"response.incomplete"')) ({ usage } = JSON.parse(payload).response);
  };
  await postForEvents(`${url}/v1/responses`, { token, body, data });
  if (usage?.input_tokens !== ids.length || usage.output_tokens !== tokens) {
    throw new Error(`ours: ${JSON.stringify(usage)} where ${ids.length} and ${tokens} tokens were wanted`);
  }
  return { asked, times, tokens };
}
