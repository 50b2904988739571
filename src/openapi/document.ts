import type { INestApplication } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { serviceVersion } from '../config/index.js';
import { refusalsByStatus, WITH_ANY_BODY, WITH_TOKEN, type Refusal } from './describe-route.js';
import { ERROR, OAUTH_ERROR } from './error-answers.js';
import { either, schemasWithin } from './schema.js';
import { loadSwagger } from './swagger.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const DESCRIPTION = `A durable local model service: LMSP 1.0, chapter 11, behind an OpenAI-compatible API.

A token (\`Authorization: Bearer lmsp_…\`) carries scopes; each operation states the one it needs. Programs decide by
\`error.code\`, which is stable. Unknown fields of a request are ignored; further fields of an answer may come with
later versions.`;

const OAUTH = '/oauth/';

/** Name of the security scheme; the roles of its requirements are scopes (OpenAPI 3.1). */
export const TOKEN_SCHEME = 'token';

/** The description of every route of the application, those of extensions included (OPERATE 6). OpenAPI 3.1. */
export async function describeApi(app: INestApplication): Promise<OpenAPIObject> {
  const { DocumentBuilder, SwaggerModule } = await loadSwagger();
  const base = new DocumentBuilder()
    .setTitle('LMSP service')
    .setDescription(DESCRIPTION)
    .setVersion(serviceVersion())
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/', 'This service')
    .addBearerAuth(
      {
        type: 'http',
        scheme: 'bearer',
        bearerFormat: 'lmsp_…',
        description: 'A token of a paired client, or the owner token',
      },
      TOKEN_SCHEME,
    )
    .setOpenAPIVersion('3.1.0')
    .build();
  const document = SwaggerModule.createDocument(app, base, { autoTagControllers: false });
  const paths = Object.entries(document.paths).map(
    ([path, item]) => [withParameters(path), complete(path, item)] as const,
  );
  const sorted = Object.fromEntries(paths.sort(([a], [b]) => (a < b ? -1 : 1)));
  const schemas = { ...document.components?.schemas, ...schemasWithin(sorted) };
  return { ...document, paths: sorted, components: { ...document.components, schemas } };
}

/** `/v1/models/*id` of the router is one parameter that may hold slashes. */
function withParameters(path: string): string {
  return path.replace(/\*(\w+)/g, '{$1}');
}

type PathItem = OpenAPIObject['paths'][string];

/** States for every operation whether it needs a token, what it answers without one, and to a path that is no text. */
function complete(path: string, item: PathItem): PathItem {
  for (const method of METHODS) {
    const operation = item[method];
    if (!operation) continue;
    const security = operation.security ?? [];
    const answers = refusalsByStatus([
      ...(security.length > 0 ? WITH_TOKEN : []),
      ...(method === 'get' ? [] : WITH_ANY_BODY),
      ...(/[{*]/.test(path) ? (['invalid_value'] as const) : []),
    ]);
    const responses = joined(operation.responses, answers);
    item[method] = { ...operation, security, responses: path.startsWith(OAUTH) ? inOAuthForm(responses) : responses };
  }
  return item;
}

/** Below /oauth a refusal has the form of RFC 6749; only what refuses before the route is known keeps the envelope. */
function inOAuthForm(answers: Answers): Answers {
  const content = { 'application/json': { schema: either([OAUTH_ERROR, ERROR]) } };
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [status, Number(status) < 400 ? answer : { ...answer, content }]),
  ) as Answers;
}

type Answers = NonNullable<PathItem['get']>['responses'];

/** Codes of the same status stand in one answer. */
function joined(own: Answers, added: Record<string, Refusal>): Answers {
  const answers: Record<string, unknown> = { ...own };
  for (const [status, refusal] of Object.entries(added)) {
    const known = answers[status] as Refusal | undefined;
    answers[status] = known ? merge(known, refusal) : refusal;
  }
  return Object.fromEntries(Object.entries(answers).sort(([a], [b]) => (a < b ? -1 : 1))) as Answers;
}

function merge(known: Refusal, added: Refusal): Refusal {
  const json = known.content['application/json'];
  const examples = { ...json.examples, ...added.content['application/json'].examples };
  return {
    ...known,
    description: Object.keys(examples).sort().join(', '),
    content: { 'application/json': { ...json, examples } },
  };
}
