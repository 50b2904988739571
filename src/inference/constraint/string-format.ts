const DATE = '\\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)';
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,6})?(?:Z|[+-](?:0\\d|1[0-4]):[0-5]\\d)';
const BYTE = '(?:\\d|[1-9]\\d|1\\d\\d|2[0-4]\\d|25[0-5])';
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,20}[a-z0-9])?';
const HOST = `${LABEL}(?:\\.${LABEL}){0,3}`;

/**
 * Formats of JSON Schema Validation 7.3 as patterns. Each allows only what the format allows, and not all of it: what
 * people write, within a bounded length.
 */
export const STRING_FORMATS: Readonly<Record<string, string>> = {
  date: `^${DATE}$`,
  time: `^${TIME}$`,
  'date-time': `^${DATE}T${TIME}$`,
  duration: '^P(?:\\d{1,4}D(?:T\\d{1,4}[HMS])?|T\\d{1,4}[HMS]|\\d{1,4}W)$',
  uuid: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
  ipv4: `^(?:${BYTE}\\.){3}${BYTE}$`,
  hostname: `^${HOST}$`,
  email: `^[a-z0-9_+-]{1,32}(?:\\.[a-z0-9_+-]{1,16}){0,2}@${LABEL}(?:\\.${LABEL}){1,3}$`,
  uri: `^https?://${HOST}(?:/[A-Za-z0-9._~-]{1,40}){0,6}/?$`,
};
