import type { ConfigProblem } from './config.errors.js';
import type { Setting } from './setting.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The value of one setting; an empty variable counts as absent. What cannot be parsed joins `problems`, and the default
 * stands in, so that whatever depends on it is checked in the same pass.
 */
export function readSetting<T>(key: string, setting: Setting<T>, env: Environment, problems: ConfigProblem[]): T {
  const text = env[key]?.trim() ?? '';
  const value = text === '' ? setting.fallback() : setting.parse(text);
  if (value !== null) return value;
  problems.push({ key, expected: setting.expected, value: setting.isSecret ? null : withoutPassword(text) });
  return setting.fallback();
}

/** What stands before the @ of an address. */
function withoutPassword(text: string): string {
  return text.replace(/\/\/[^/]*@/, '//…@');
}
