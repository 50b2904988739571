import type { NestApplicationOptions } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { CONFIG, type Config } from '../config/index.js';
import { Notices } from '../notices/index.js';
import { requestContext } from './request-context.js';
import { configureServer } from './server-settings.js';

/** How the application must be created: the edge reads bodies itself, and a stop leaves no connection open. */
export const EDGE_OPTIONS = { bodyParser: false, forceCloseConnections: true } satisfies NestApplicationOptions;

/** Puts the edge in front of an application created with EDGE_OPTIONS; call before init or listen. */
export function configureApp(app: NestExpressApplication): NestExpressApplication {
  app.disable('x-powered-by');
  // Every answer is no-store: a tag would only make express answer 304.
  app.disable('etag');
  app.use(requestContext(app.get(Notices)));
  configureServer(app.getHttpServer(), app.get<Config>(CONFIG));
  return app;
}
