import { parseDuration } from '../duration.js';
import { EXIT } from '../exit-codes.js';
import { timeText } from '../human-text.js';
import { printList, printObject, type List } from '../listing.js';
import { confirm } from '../question.js';
import { isPrivileged, scopeWords } from '../scope-words.js';
import type { Session } from '../session.js';
import { oneLine } from '../terminal-text.js';

interface Pairing {
  /** Null where the service was started again since the program asked: only the program shows it now. */
  user_code: string | null;
  client_name: string;
  scopes: string[];
  /** What scopes of extensions are good for; absent in older services. */
  meanings?: Record<string, string>;
  address: string;
  created_at: number;
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
    ({ user_code: code }) => code ?? '',
  );
  return EXIT.done;
}

/** Tells who asks and for what before it asks. Privileged scopes are granted only where `--scopes` names them. */
export async function approvePairing(session: Session, code: string, options: ApproveOptions): Promise<number> {
  const all = (await pending(session)).data;
  const known = all.filter((each) => each.user_code !== null && isSameCode(each.user_code, code));
  // A code that the service cannot show belongs to one of those whose codes it does not know.
  const candidates = known.length > 0 ? known : all.filter((each) => each.user_code === null);
  const named = options.scopes?.split(/[\s,]+/).filter(Boolean);
  const scopes = named ?? known[0]?.scopes.filter((scope) => !isPrivileged(scope));
  for (const each of candidates) describe(session, each, scopes ?? each.scopes.filter((scope) => !isPrivileged(scope)));
  const which =
    candidates.length > 1 ? `one of these, with the code ${code}` : `"${oneLine(candidates[0]?.client_name ?? '')}"`;
  if (candidates.length > 0) await confirm(session, `Let ${which} in?`);
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
  const asked = timeText(pairing.created_at, options.time);
  terminal.note(`${oneLine(pairing.client_name)} from ${oneLine(pairing.address)}, asked ${asked}, wants to:`);
  for (const scope of pairing.scopes) {
    const mark = isPrivileged(scope) ? terminal.noteColors.yellow('! ') : '  ';
    const refused = granted.includes(scope) ? '' : '; not granted, name it with --scopes';
    terminal.note(`${mark}${oneLine(scopeWords(scope, pairing.meanings))} (${oneLine(scope)}${refused})`);
  }
}

function pending({ api }: Session): Promise<List<Pairing>> {
  return api.json<List<Pairing>>('GET', '/v1/pairings');
}

function isSameCode(a: string, b: string): boolean {
  const bare = (code: string): string => code.replaceAll('-', '').toUpperCase();
  return bare(a) === bare(b);
}
