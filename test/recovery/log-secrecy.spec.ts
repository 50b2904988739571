import { expect, it } from 'vitest';
import { ServiceProcess } from '../support/service-process.js';

it('neither prompts nor outputs nor tokens reach the log, at its most talkative, whatever goes wrong', async () => {
  const service = await ServiceProcess.start({ env: { LMSP_LOG_LEVEL: 'trace' } });
  try {
    const secret = 'zebra-umbrella-7341';
    const answers = [
      await service.request('POST', '/v1/responses', { model: 'pocket', input: `Repeat: ${secret}` }),
      await service.request('POST', '/v1/responses', { model: 'pocket', input: [{ role: secret, content: secret }] }),
      await service.request('POST', '/v1/responses', { model: secret, input: secret }),
      await service.request('POST', `/v1/responses?key=${secret}`, undefined, {
        body: `{"input": "${secret}`,
        headers: { 'content-type': 'application/json' },
      }),
      await service.request('GET', `/v1/responses/${secret}`),
      await service.request('GET', '/v1/models', undefined, { headers: { authorization: `Bearer ${secret}` } }),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([200, 400, 404, 400, 404, 401]);
    const body = (await answers[0]?.json()) as { output: { content: { text: string }[] }[] };
    const text = body.output[0]?.content[0]?.text ?? '';
    expect(text.length).toBeGreaterThan(3);
    service.signal('SIGTERM');
    expect(await service.exit()).toBe(0);
    expect(service.output).toContain('request answered');
    for (const forbidden of [secret, text, service.token]) expect(service.output).not.toContain(forbidden);
  } finally {
    await service.dispose();
  }
});
