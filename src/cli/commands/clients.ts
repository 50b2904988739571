import { EXIT } from '../exit-codes.js';
import { timeText } from '../human-text.js';
import { parseDuration } from '../duration.js';
import { printList, printObject, type List } from '../listing.js';
import { wholeId } from '../prefixes.js';
import { confirm } from '../question.js';
import type { Session } from '../session.js';

export interface ClientObject {
  id: string;
  name: string;
  scopes: string[];
  token_hint: string | null;
  created_at: number;
  last_used_at: number | null;
  expires_at: number | null;
  revoked_at: number | null;
}

/** The answer that has the token, once. */
export type IssuedClient = ClientObject & { token: string };

const LIST = '/v1/clients?limit=100';

export async function listClients(session: Session): Promise<number> {
  const { time } = session.options;
  await printList(session, await session.api.json<List<ClientObject>>('GET', LIST), {
    CLIENT: ({ id }) => id,
    NAME: ({ name }) => name,
    TOKEN: ({ token_hint: hint }) => hint,
    CREATED: ({ created_at: at }) => timeText(at, time),
    USED: ({ last_used_at: at }) => timeText(at, time),
    ENDS: ({ revoked_at: revoked, expires_at: expires }) => (revoked ? 'revoked' : timeText(expires, time)),
  });
  return EXIT.done;
}

export async function showClient(session: Session, typed: string): Promise<number> {
  print(session, await read(session, await clientId(session, typed)));
  return EXIT.done;
}

export async function whoami(session: Session): Promise<number> {
  print(session, await read(session, 'me'));
  return EXIT.done;
}

export async function renameClient(session: Session, typed: string, name: string): Promise<number> {
  const path = `/v1/clients/${await clientId(session, typed)}`;
  print(session, await session.api.json<ClientObject>('PATCH', path, { body: { name } }));
  return EXIT.done;
}

export async function revokeClient(session: Session, typed: string): Promise<number> {
  const id = await clientId(session, typed);
  const { name } = await read(session, id);
  await confirm(session, `Revoke ${id} (${name})? Its token ends and its unfinished tasks are cancelled.`);
  printObject(session, await session.api.json<object>('DELETE', `/v1/clients/${id}`), { revoked: id });
  return EXIT.done;
}

export async function rotateClient(session: Session, typed: string, { grace }: { grace?: string }): Promise<number> {
  const id = await clientId(session, typed);
  const seconds = grace === undefined ? 0 : Math.round(parseDuration(grace) / 1000);
  const { name } = await read(session, id);
  await confirm(
    session,
    `Give ${id} (${name}) a new token? ${seconds === 0 ? 'The old one ends at once.' : ''}`.trim(),
  );
  const path = `/v1/clients/${id}/rotate`;
  printToken(session, await session.api.json<IssuedClient>('POST', path, { body: { grace_seconds: seconds } }));
  return EXIT.done;
}

/** The token alone is data: it can be put into a file. */
export function printToken(session: Session, issued: IssuedClient): void {
  const { terminal } = session;
  if (terminal.format === 'json' || terminal.format === 'jsonl') return terminal.json(issued);
  terminal.aside(`${issued.id} (${issued.name}); the token is shown only now`);
  terminal.text(`${issued.token}\n`);
}

function read({ api }: Session, id: string): Promise<ClientObject> {
  return api.json<ClientObject>('GET', `/v1/clients/${id}`);
}

function clientId({ api }: Session, typed: string): Promise<string> {
  return wholeId(typed, { prefix: 'cli' }, async function* () {
    for (const { id } of (await api.json<List<ClientObject>>('GET', LIST)).data) yield id;
  });
}

function print(session: Session, client: ClientObject): void {
  const { time } = session.options;
  printObject(session, client, {
    client: client.id,
    name: client.name,
    scopes: client.scopes.join(' '),
    token: client.token_hint,
    created: timeText(client.created_at, time),
    'last used': timeText(client.last_used_at, time),
    expires: client.expires_at === null ? 'never' : timeText(client.expires_at, time),
    revoked: client.revoked_at && timeText(client.revoked_at, time),
  });
}
