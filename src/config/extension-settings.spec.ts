import { describe, expect, it } from 'vitest';
import { ConfigInvalid } from './config.errors.js';
import { describeSettings } from './describe-settings.js';
import { extensionSettings, extensionVariable, type SettingValues } from './extension-settings.js';
import { loadConfig } from './load-config.js';
import { secret, whole } from './setting.js';

const SETTINGS = {
  maxRows: whole(5, { min: 1, max: 9 }, 'Rows.'),
  apiKey: secret('Key of the other side.'),
};
const declared = { extension: 'audit-sink', settings: SETTINGS };

function problemsOf(env: Record<string, string>, ...more: Parameters<typeof loadConfig>[1][]): unknown {
  try {
    loadConfig(env, ...more);
    return [];
  } catch (error) {
    if (error instanceof ConfigInvalid) return error.problems;
    throw error;
  }
}

describe('settings of extensions (HOUSE 7)', () => {
  it('are read from variables of their own, and frozen', () => {
    expect(extensionVariable('audit-sink', 'maxRows')).toBe('LMSP_EXT_AUDIT_SINK_MAX_ROWS');
    const values = extensionSettings(declared, { LMSP_EXT_AUDIT_SINK_MAX_ROWS: '7' }) as SettingValues<typeof SETTINGS>;
    expect(values).toEqual({ maxRows: 7, apiKey: '' });
    expect(Object.isFrozen(values)).toBe(true);
  });

  it('are complained about together with ours, and a secret is not shown', () => {
    const env = { LMSP_PORT: 'x', LMSP_EXT_AUDIT_SINK_MAX_ROWS: '70', LMSP_EXT_AUDIT_SINK_API_KEY: 'two words' };
    expect(problemsOf(env, [declared])).toEqual([
      { key: 'LMSP_PORT', expected: 'a whole number from 0 to 65535', value: 'x' },
      { key: 'LMSP_EXT_AUDIT_SINK_MAX_ROWS', expected: 'a whole number from 1 to 9', value: '70' },
      { key: 'LMSP_EXT_AUDIT_SINK_API_KEY', expected: 'up to 4096 visible ASCII characters', value: null },
    ]);
  });

  it('that no extension declares are unknown, once it is known which there are', () => {
    const env = { LMSP_EXT_AUDIT_SINK_MAX_ROW: '7' };
    expect(problemsOf(env)).toEqual([]);
    expect(problemsOf(env, [])).toMatchObject([{ key: 'LMSP_EXT_AUDIT_SINK_MAX_ROW', expected: 'a known name' }]);
    expect(problemsOf(env, [declared])).toMatchObject([
      { expected: 'a known name, perhaps LMSP_EXT_AUDIT_SINK_MAX_ROWS' },
    ]);
  });

  it('are shown with ours, a secret as set', () => {
    const shown = describeSettings({ LMSP_EXT_AUDIT_SINK_API_KEY: 'k' }, [declared]);
    expect(shown.slice(-2)).toEqual([
      { key: 'LMSP_EXT_AUDIT_SINK_MAX_ROWS', value: 5, origin: 'default' },
      { key: 'LMSP_EXT_AUDIT_SINK_API_KEY', value: '(set)', origin: 'environment' },
    ]);
  });
});
