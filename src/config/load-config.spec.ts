import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONFIG_TABLE, FOREIGN_KEYS, variableOf, type ConfigName } from './config-table.js';
import { ConfigInvalid } from './config.errors.js';
import { describeSettings } from './describe-settings.js';
import { loadConfig } from './load-config.js';

function refusal(env: Record<string, string>): ConfigInvalid {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigInvalid) return error;
    throw error;
  }
  throw new Error('the settings were accepted');
}

describe('loadConfig (HOUSE 7)', () => {
  it('has the documented defaults', () => {
    expect(loadConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 5677,
      logLevel: 'info',
      maxBodyBytes: 8_388_608,
      maxQueuedTasks: 100_000,
      maxQueuedTasksPerClient: 10_000,
      maxRows: 8,
      requestsPerMinute: 0,
      wrongTokensPerMinute: 10,
      maxInterruptions: 3,
      stopGraceSeconds: 10,
      cancelWaitMs: 2000,
      queueTimeoutSeconds: 0,
      taskTimeoutSeconds: 3600,
      unitTimeoutSeconds: 10,
      storageWaitSeconds: 60,
      defaultOnRestart: 'resume',
      retentionTasksSeconds: 604_800,
      retentionResponsesSeconds: 2_592_000,
      retentionIdempotencySeconds: 86_400,
    });
  });

  it('reads each variable by its fixed name', () => {
    const config = loadConfig({ LMSP_PORT: '0', LMSP_DATA_DIR: '/srv/lmsp', LMSP_MAX_ROWS: ' 4 ' });
    expect(config).toMatchObject({ port: 0, dataDir: '/srv/lmsp', maxRows: 4 });
  });

  it('takes an empty variable for an absent one', () => {
    expect(loadConfig({ LMSP_PORT: '' }).port).toBe(5677);
  });

  it('gives an object that cannot be changed', () => {
    expect(Object.isFrozen(loadConfig({}))).toBe(true);
  });

  it('reports all problems at once, each with key, expectation and value', () => {
    const { problems, message } = refusal({ LMSP_PORT: '70000', LMSP_DATA_DIR: 'here', LMSP_MAX_ROW: '1' });
    expect(problems).toEqual([
      { key: 'LMSP_MAX_ROW', expected: 'a known name, perhaps LMSP_MAX_ROWS', value: null },
      { key: 'LMSP_PORT', expected: 'a whole number from 0 to 65535', value: '70000' },
      { key: 'LMSP_DATA_DIR', expected: 'an absolute path', value: 'here' },
    ]);
    for (const { key } of problems) expect(message).toContain(key);
  });

  it('checks the relations of sound settings although another one is unsound', () => {
    const { problems } = refusal({ LMSP_PORT: 'x', LMSP_RETENTION_TASKS_SECONDS: '7200' });
    expect(problems.map(({ key }) => key)).toEqual(['LMSP_PORT', 'LMSP_RETENTION_IDEMPOTENCY_SECONDS']);
  });

  it('never shows a token, nor the password of an address', () => {
    const hub = 'https://me:very-secret@hub.example';
    expect(refusal({ LMSP_HUB_TOKEN: 'very secret' }).message).not.toContain('very secret');
    expect(refusal({ LMSP_HUB_URL: hub }).message).not.toContain('very-secret');
    const shown = describeSettings({ LMSP_HUB_TOKEN: 'very-secret' });
    expect(shown.find(({ key }) => key === 'LMSP_HUB_TOKEN')?.value).toBe('(set)');
  });

  it('sends no token over a network that can read it, and takes one token', () => {
    expect(refusal({ LMSP_HUB_URL: 'http://hub.example', LMSP_HUB_TOKEN: 'x' }).message).toContain('LMSP_HUB_URL');
    expect(loadConfig({ LMSP_HUB_URL: 'http://[::1]:8080/', LMSP_HUB_TOKEN: 'x' }).hubUrl).toBe('http://[::1]:8080');
    expect(refusal({ LMSP_HUB_TOKEN: 'x', LMSP_HUB_TOKEN_FILE: '/x' }).message).toContain('LMSP_HUB_TOKEN_FILE');
  });

  it('never shows the value of an unknown key: it may be a misspelt secret', () => {
    expect(refusal({ LMSP_TOKNE: 'lmsp_very-secret' }).message).not.toContain('very-secret');
  });

  it('accepts the keys of other programs under the prefix, and every key without it', () => {
    const env = Object.fromEntries(FOREIGN_KEYS.map((key) => [key, 'anything']));
    expect(loadConfig({ ...env, PATH: '/bin', OTHER_LMSP_PORT: 'x' })).toEqual(loadConfig({}));
  });

  it('WIRE B3: background work is resumed unless the operator says otherwise', () => {
    expect(loadConfig({}).defaultOnRestart).toBe('resume');
    expect(loadConfig({ LMSP_DEFAULT_ON_RESTART: 'fail' }).defaultOnRestart).toBe('fail');
  });
});

describe('retention settings (WIRE B6: idempotency <= tasks <= responses, 0 is for ever)', () => {
  const env = (idempotency: number, tasks: number, responses: number): Record<string, string> => ({
    LMSP_RETENTION_IDEMPOTENCY_SECONDS: String(idempotency),
    LMSP_RETENTION_TASKS_SECONDS: String(tasks),
    LMSP_RETENTION_RESPONSES_SECONDS: String(responses),
  });

  it.each([
    [3600, 3600, 3600],
    [86_400, 0, 0],
    [0, 0, 0],
  ])('starts with %i, %i, %i', (...seconds) => {
    expect(() => loadConfig(env(...seconds))).not.toThrow();
  });

  it.each([
    [7200, 3600, 7200, 'LMSP_RETENTION_IDEMPOTENCY_SECONDS'],
    [0, 86_400, 86_400, 'LMSP_RETENTION_IDEMPOTENCY_SECONDS'],
    [3600, 0, 86_400, 'LMSP_RETENTION_TASKS_SECONDS'],
    [60, 3600, 3600, 'LMSP_RETENTION_IDEMPOTENCY_SECONDS'],
  ])('does not start with %i, %i, %i', (idempotency, tasks, responses, key) => {
    expect(refusal(env(idempotency, tasks, responses)).problems.map((problem) => problem.key)).toEqual([key]);
  });
});

describe('the times of retention', () => {
  it.each(['30 3 * * *', '*/5 * * * * *', '@daily'])('may be %s', (cron) => {
    expect(loadConfig({ LMSP_RETENTION_CRON: cron }).retentionCron).toBe(cron);
  });

  it.each(['hourly', '61 * * * *', '* * *', '0 0 30 2 *', '2026-12-24'])('may not be %s', (cron) => {
    expect(refusal({ LMSP_RETENTION_CRON: cron }).problems.map(({ key }) => key)).toEqual(['LMSP_RETENTION_CRON']);
  });
});

describe('who is on the other side of the wire', () => {
  it.each(['0.0.0.0', '::', '192.168.1.4', 'box.lan'])('does not listen on %s without TLS or a plain word', (host) => {
    expect(refusal({ LMSP_HOST: host }).problems.map(({ key }) => key)).toEqual(['LMSP_HOST']);
    expect(refusal({ LMSP_HOST: host }).message).toContain('LMSP_ALLOW_INSECURE_LAN=true');
    expect(() => loadConfig({ LMSP_HOST: host, LMSP_ALLOW_INSECURE_LAN: 'true' })).not.toThrow();
    const files = { LMSP_TLS_CERT_FILE: '/etc/lmsp.crt', LMSP_TLS_KEY_FILE: '/etc/lmsp.key' };
    expect(() => loadConfig({ LMSP_HOST: host, ...files })).not.toThrow();
  });

  it.each([
    ['LMSP_TLS_CERT_FILE', 'LMSP_TLS_KEY_FILE'],
    ['LMSP_TLS_KEY_FILE', 'LMSP_TLS_CERT_FILE'],
  ])('does not take %s without %s', (given, missing) => {
    expect(refusal({ [given]: '/etc/lmsp.pem' }).problems.map(({ key }) => key)).toEqual([missing]);
  });

  it.each([
    ['LMSP_ALLOWED_HOSTS', ' Box.lan , [::1]:80,10.0.0.1', ['box.lan', '[::1]:80', '10.0.0.1']],
    ['LMSP_ALLOWED_ORIGINS', 'https://App.example', ['https://app.example']],
  ])('reads %s as a list', (key, text, list) => {
    expect(Object.values(loadConfig({ [key]: text }))).toContainEqual(list);
  });

  it.each([
    ['LMSP_ALLOWED_HOSTS', 'http://box.lan'],
    ['LMSP_ALLOWED_HOSTS', 'a,,b'],
    ['LMSP_ALLOWED_ORIGINS', '*'],
    ['LMSP_ALLOWED_ORIGINS', 'null'],
  ])('does not take %s=%s', (key, text) => {
    expect(refusal({ [key]: text }).problems.map((problem) => problem.key)).toEqual([key]);
  });
});

describe('the table of settings', () => {
  const names = Object.keys(CONFIG_TABLE) as ConfigName[];

  it('has for every setting a default that its own parser accepts', () => {
    const config = loadConfig({});
    const again = loadConfig(Object.fromEntries(names.map((name) => [variableOf(name), String(config[name])])));
    expect(again).toEqual(config);
  });

  it('never lets an arbitrary text through as anything but its parsed value or a complaint', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.string(), (name, text) => {
        const { parse, fallback } = CONFIG_TABLE[name];
        const value = parse(text);
        expect(value === null || typeof value === typeof fallback()).toBe(true);
        if (typeof value === 'number') expect(Number.isSafeInteger(value)).toBe(true);
      }),
    );
  });
});
