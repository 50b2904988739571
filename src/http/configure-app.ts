import type { NestApplicationOptions } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { RequestHandler } from 'express';
import { CONFIG, type Config } from '../config/index.js';
import { Notices } from '../notices/index.js';
import { serveDescription } from '../openapi/index.js';
import { allowPages } from './browser-access.js';
import { CallerPolicy } from './caller-policy.js';
import { sendError } from './error-answer.js';
import { OpenAnswers } from './open-answers.js';
import { requestContext } from './request-context.js';
import { securityHeaders } from './security-headers.js';
import { configureServer } from './server-settings.js';
import { readCertificate } from './tls-certificate.js';

/** How the application must be created: the edge reads bodies itself, and a stop leaves no connection open. */
export const EDGE_OPTIONS = { bodyParser: false, forceCloseConnections: true } satisfies NestApplicationOptions;

/** EDGE_OPTIONS, with TLS where certificate files are configured. Throws ConfigInvalid when they cannot be used. */
export function edgeOptions(config: Config): NestApplicationOptions {
  const certificate = readCertificate(config);
  return { ...EDGE_OPTIONS, ...(certificate && { httpsOptions: certificate }) };
}

/** Puts the edge in front of an application created with EDGE_OPTIONS; call before init or listen. */
export function configureApp(app: NestExpressApplication): NestExpressApplication {
  app.disable('x-powered-by');
  // Every answer is no-store: a tag would only make express answer 304.
  app.disable('etag');
  const config = app.get<Config>(CONFIG);
  app.use(
    requestContext(app.get(Notices)),
    app.get(OpenAnswers, { strict: false }).middleware(),
    securityHeaders(),
    refuseStrangers(config),
  );
  allowPages(app, config.allowedOrigins);
  serveDescription(app);
  configureServer(app.getHttpServer(), config);
  return app;
}

/** Before any work, and for every URL, known or not. */
function refuseStrangers(config: Config): RequestHandler {
  const policy = new CallerPolicy(config);
  return (request, response, next) => {
    const refusal = policy.refusal(request);
    if (refusal) sendError(response, refusal);
    else next();
  };
}
