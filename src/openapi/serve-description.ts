import type { INestApplication } from '@nestjs/common';
import { SwaggerModule } from '@nestjs/swagger';
import { describeApi } from './document.js';

/** Serves `/openapi.json` and, from local files alone, Swagger UI at `/docs`: no token, nothing secret is in them. */
export function serveDescription(app: INestApplication): void {
  // Made at the first request, and once.
  SwaggerModule.setup('docs', app, () => describeApi(app), {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'LMSP service',
    swaggerOptions: { persistAuthorization: false, tagsSorter: 'alpha', validatorUrl: null },
  });
}
