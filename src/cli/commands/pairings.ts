import { parseDuration } from '../duration.js';
import { EXIT } from '../exit-codes.js';
import { timeText } from '../human-text.js';
import { printList, printObject, type List } from '../listing.js';
import { confirm } from '../question.js';
import { isPrivileged, scopeWords } from '../scope-words.js';
import type { Session } from '../session.js';
import { oneLine } from '../terminal-text.js';

interface Pairing {
  user_code: string;
  client_name: string;
  scopes: string[];
  address: string | null;
  created_at?: number;
  expires_at: number;
}

export interface ApproveOptions {
  /** Narrower than what was asked for, or with privileged ones. */
  scopes?: string;
  name?: string;
  expires?: string;
}

export async function listPairings(session: Session): Promise<number> {
  const { time } = session.options;
  await printList(
    session,
    await pending(session),
    {
      CODE: ({ user_code: code }) => code,
      NAME: ({ client_name: name }) => name,
      ADDRESS: ({ address }) => address,
      SCOPES: ({ scopes }) => scopes.join(' '),
      EXPIRES: ({ expires_at: at }) => timeText(at, time),
    },
    ({ user_code: code }) => code,
  );
  return EXIT.done;
}

/** Tells who asks and for what before it asks. Privileged scopes are granted only where `--scopes` names them. */
export async function approvePairing(session: Session, code: string, options: ApproveOptions): Promise<number> {
  const pairing = (await pending(session)).data.find((each) => isSameCode(each.user_code, code));
  const named = options.scopes?.split(/[\s,]+/).filter(Boolean);
  const scopes = named ?? pairing?.scopes.filter((scope) => !isPrivileged(scope));
  if (pairing !== undefined && scopes !== undefined) {
    describe(session, pairing, scopes);
    await confirm(session, `Let "${oneLine(options.name ?? pairing.client_name)}" in?`);
  }
  const body = {
    ...(scopes && { scopes }),
    ...(options.name !== undefined && { name: options.name }),
    ...(options.expires !== undefined && { token_expires_in: Math.round(parseDuration(options.expires) / 1000) }),
  };
  return decide(session, code, 'approve', body);
}

export function denyPairing(session: Session, code: string): Promise<number> {
  return decide(session, code, 'deny', undefined);
}

async function decide(session: Session, code: string, verdict: 'approve' | 'deny', body: unknown): Promise<number> {
  const path = `/v1/pairings/${encodeURIComponent(code.toUpperCase())}/${verdict}`;
  const decided = await session.api.json<object>('POST', path, { body });
  printObject(
    session,
    decided,
    { [verdict === 'approve' ? 'approved' : 'denied']: code.toUpperCase() },
    code.toUpperCase(),
  );
  return EXIT.done;
}

function describe({ terminal, options }: Session, pairing: Pairing, granted: readonly string[]): void {
  const asked = pairing.created_at === undefined ? '' : `, asked ${timeText(pairing.created_at, options.time)}`;
  terminal.note(
    `${oneLine(pairing.client_name)} from ${oneLine(pairing.address ?? 'an unknown address')}${asked}, wants to:`,
  );
  for (const scope of pairing.scopes) {
    const mark = isPrivileged(scope) ? terminal.noteColors.yellow('! ') : '  ';
    const refused = granted.includes(scope) ? '' : '; not granted, name it with --scopes';
    terminal.note(`${mark}${scopeWords(scope)} (${oneLine(scope)}${refused})`);
  }
}

function pending({ api }: Session): Promise<List<Pairing>> {
  return api.json<List<Pairing>>('GET', '/v1/pairings');
}

function isSameCode(a: string, b: string): boolean {
  const bare = (code: string): string => code.replaceAll('-', '').toUpperCase();
  return bare(a) === bare(b);
}
