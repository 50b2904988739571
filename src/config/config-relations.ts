import { variableOf, type Config } from './config-table.js';
import type { ConfigProblem } from './config.errors.js';
import { isLoopback } from './host-names.js';

const IDEMPOTENCY_FLOOR_SECONDS = 3600;

/** Each is kept at most as long as the next (WIRE B6, retention); 0 is for ever. */
const RETENTION_ORDER = [
  'retentionIdempotencySeconds',
  'retentionTasksSeconds',
  'retentionResponsesSeconds',
] as const satisfies readonly (keyof Config)[];

/** What is wrong between settings that are each fine by themselves. */
export function checkRelations(config: Config): ConfigProblem[] {
  return [
    ...checkRetentionOrder(config),
    ...checkIdempotencyFloor(config),
    ...checkPorts(config),
    ...checkTls(config),
    ...checkReach(config),
    ...checkHub(config),
  ];
}

function checkRetentionOrder(config: Config): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  for (const [index, name] of RETENTION_ORDER.entries()) {
    const longer = RETENTION_ORDER[index + 1];
    if (longer === undefined || lifetime(config[name]) <= lifetime(config[longer])) continue;
    const expected = `at most ${variableOf(longer)}, which is ${config[longer]} (0 is for ever)`;
    problems.push({ key: variableOf(name), expected, value: String(config[name]) });
  }
  return problems;
}

function checkIdempotencyFloor(config: Config): ConfigProblem[] {
  const seconds = config.retentionIdempotencySeconds;
  if (lifetime(seconds) >= IDEMPOTENCY_FLOOR_SECONDS) return [];
  const expected = `0 or at least ${IDEMPOTENCY_FLOOR_SECONDS}, so that a client can still repeat a request it lost`;
  return [{ key: variableOf('retentionIdempotencySeconds'), expected, value: String(seconds) }];
}

function checkPorts({ port, metricsPort }: Config): ConfigProblem[] {
  if (metricsPort === 0 || metricsPort !== port) return [];
  return [
    { key: variableOf('metricsPort'), expected: `another port than ${variableOf('port')}`, value: String(metricsPort) },
  ];
}

function checkTls({ tlsCertFile, tlsKeyFile }: Config): ConfigProblem[] {
  if ((tlsCertFile === '') === (tlsKeyFile === '')) return [];
  const [missing, given] =
    tlsCertFile === '' ? (['tlsCertFile', 'tlsKeyFile'] as const) : (['tlsKeyFile', 'tlsCertFile'] as const);
  return [{ key: variableOf(missing), expected: `a file as well, since ${variableOf(given)} has one`, value: '' }];
}

/** Whoever listens to the network could read every token. */
function checkReach({ host, tlsCertFile, allowInsecureLan }: Config): ConfigProblem[] {
  if (isLoopback(host) || tlsCertFile !== '' || allowInsecureLan) return [];
  const ways = `${variableOf('tlsCertFile')} and ${variableOf('tlsKeyFile')}, or ${variableOf('allowInsecureLan')}=true`;
  return [{ key: variableOf('host'), expected: `a loopback address, or beyond it ${ways}`, value: host }];
}

/** One token, and never readable on a network. */
function checkHub({ hubUrl, hubToken, hubTokenFile }: Config): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (hubToken !== '' && hubTokenFile !== '') {
    const expected = `nothing, since ${variableOf('hubToken')} holds the token`;
    problems.push({ key: variableOf('hubTokenFile'), expected, value: hubTokenFile });
  }
  const { protocol, hostname } = new URL(hubUrl);
  const isReadable = protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''));
  if (isReadable && (hubToken !== '' || hubTokenFile !== '')) {
    problems.push({ key: variableOf('hubUrl'), expected: 'https, since a token is sent to it', value: hubUrl });
  }
  return problems;
}

function lifetime(seconds: number): number {
  return seconds === 0 ? Infinity : seconds;
}
