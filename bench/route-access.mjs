// Calls every route of the application's own walk with no token, a wrong one, one without the scope and one of another
// client, and prints what each was answered. The last line counts routes and those that let in whom they should not.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import 'reflect-metadata';

const built = (path) => import(new URL(`../dist/src/${path}`, import.meta.url).href);

export default async function routeAccess() {
  const dataDir = await mkdtemp(join(tmpdir(), 'lmsp-bench-'));
  Object.assign(process.env, { LMSP_DATA_DIR: dataDir, LMSP_PORT: '0', LMSP_WRONG_TOKENS_PER_MINUTE: '0' });
  const { NestFactory } = await import('@nestjs/core');
  const { AppModule } = await built('app.module.js');
  const { configureApp, EDGE_OPTIONS } = await built('http/index.js');
  const { accessInWords, createClient, RouteAccesses, SCOPES } = await built('clients/index.js');
  const { Store } = await built('database/index.js');
  const { Service } = await built('service.js');
  const app = configureApp(await NestFactory.create(AppModule.register(), { ...EDGE_OPTIONS, logger: false }));
  const service = new Service(app);
  const url = await service.start();
  const owner = (await readFile(join(dataDir, 'owner-token'), 'utf8')).trim();
  const issue = async (scopes) => {
    const { units } = app.get(Store, { strict: false });
    const { token } = await units.run((tx) => createClient(tx, { name: 'bench', scopes, lifeSeconds: null }));
    return token;
  };
  const mine = await call(url, 'POST', '/v1/responses', owner, { model: 'pocket', input: 'Hi', background: true });
  const ids = { responses: mine.body.id, tasks: mine.body.lmsp.task_id };
  const rows = [];
  for (const { method, path, access } of app.get(RouteAccesses, { strict: false }).all()) {
    const kind = path.split('/')[2];
    const target = path.replace(/[:*]\w+/, ids[kind] ?? 'nobody');
    const scopes = access.kind === 'scopes' ? access.scopes : [];
    const weak = await issue(SCOPES.filter((scope) => !scopes.includes(scope)));
    const answers = [undefined, 'lmsp_wrong', weak];
    const statuses = [];
    for (const token of answers) statuses.push((await call(url, method, target, token)).status);
    // Another client with the scope, where the object is not its own. A stop would end the measurement.
    const foreign = kind in ids && path.includes(':') && scopes.length > 0;
    const other = foreign ? (await call(url, method, target, await issue([scopes[0]]))).status : '-';
    const closed = access.kind !== 'public';
    const wrong =
      (closed && (statuses[0] !== 401 || statuses[1] !== 401)) ||
      (access.kind === 'scopes' && statuses[2] !== 403) ||
      (foreign && other !== 404);
    rows.push({ wrong, cells: [method, path, accessInWords(access), ...statuses, other] });
  }
  await service.stop('bench');
  await rm(dataDir, { recursive: true, force: true });
  console.log(['method', 'path', 'scope', 'none', 'wrong', 'weak', 'other'].join('\t'));
  for (const { wrong, cells } of rows) console.log(cells.join('\t') + (wrong ? '\tWRONG' : ''));
  return { routes: rows.length, wrong: rows.filter(({ wrong }) => wrong).length };
}

async function call(url, method, path, token, body) {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = response.headers.get('content-type')?.includes('json') ? await response.json() : null;
  return { status: response.status, body: text };
}
