import type { INestApplication } from '@nestjs/common';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import type { RequestHandler } from 'express';
import { describeApi } from './document.js';
import { loadSwagger } from './swagger.js';

/**
 * Serves `/openapi.json` and, from local files alone, Swagger UI at `/docs`: no token, nothing secret is in them. They
 * are made at the first request, and once; call before the routes of the application are there.
 */
export function serveDescription(app: NestExpressApplication): void {
  let pages: Promise<RequestHandler> | null = null;
  app.use(['/docs', '/openapi.json'], (...[request, response, next]: Parameters<RequestHandler>) => {
    pages ??= descriptionPages(app);
    // The pages know their whole path, which express has cut.
    request.url = request.originalUrl;
    pages.then((serve) => serve(request, response, next)).catch(next);
  });
}

/** An express application of their own: routes that are added to a running one come behind its 404. */
async function descriptionPages(app: INestApplication): Promise<RequestHandler> {
  const document = await describeApi(app);
  const { SwaggerModule } = await loadSwagger();
  const adapter = new ExpressAdapter();
  const pages = adapter.getInstance<RequestHandler & { disable(setting: string): void }>();
  for (const setting of ['x-powered-by', 'etag']) pages.disable(setting);
  const own = Object.create(app, {
    getHttpAdapter: { value: () => adapter },
    useStaticAssets: { value: adapter.useStaticAssets.bind(adapter) },
  }) as INestApplication;
  SwaggerModule.setup('docs', own, document, {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'LMSP service',
    swaggerOptions: { persistAuthorization: false, tagsSorter: 'alpha', validatorUrl: null },
  });
  return pages;
}
