import type { IncomingMessage } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';

type CorsOptions = Exclude<
  NonNullable<Parameters<NestExpressApplication['enableCors']>[0]>,
  (...args: never[]) => unknown
>;

const ALLOWED_HEADERS: readonly string[] = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'Last-Event-ID',
  'X-Request-Id',
];

/** What OpenAI's package says about itself with every request. */
const OPENAI_HEADER = /^x-stainless-[a-z-]{1,40}$/;
const MOST_OPENAI_HEADERS = 20;

const EXPOSED_HEADERS = [
  'Idempotent-Replayed',
  'LMSP-Task-Id',
  'LMSP-Version',
  'Location',
  'Retry-After',
  'X-Request-Id',
  'X-Should-Retry',
];

const PREFLIGHT_SECONDS = 600;

/**
 * Lets the pages of these origins read answers, without cookies or other ambient credentials. Pages of all others have
 * been refused before (CallerPolicy); with no origin configured there is no CORS at all.
 */
export function allowPages(app: NestExpressApplication, origins: readonly string[]): void {
  if (origins.length === 0) return;
  app.enableCors((request: IncomingMessage, answer: (error: Error | null, options: CorsOptions) => void) => {
    answer(null, {
      origin: [...origins],
      methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
      allowedHeaders: [...ALLOWED_HEADERS, ...openAiHeaders(request)],
      exposedHeaders: EXPOSED_HEADERS,
      maxAge: PREFLIGHT_SECONDS,
    });
  });
}

function openAiHeaders({ headers }: IncomingMessage): string[] {
  const asked = (headers['access-control-request-headers'] ?? '').split(',').map((name) => name.trim().toLowerCase());
  return asked.filter((name) => OPENAI_HEADER.test(name)).slice(0, MOST_OPENAI_HEADERS);
}
