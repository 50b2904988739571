import type { RequestHandler } from 'express';
import helmet from 'helmet';

type ContentPolicy = Record<string, string[]>;

/** Answers are data: a browser that is led to one shows it in no frame and loads nothing for it. */
const DATA_POLICY: ContentPolicy = {
  defaultSrc: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

/**
 * Pages need more than data does; each states what, by the path it lies under. A controller may also set the header
 * Content-Security-Policy itself.
 */
const PAGE_POLICIES: Readonly<Record<string, ContentPolicy>> = {
  // Swagger UI styles its elements in place.
  '/docs': {
    ...DATA_POLICY,
    scriptSrc: ["'self'"],
    styleSrc: ["'self'", "'unsafe-inline'"],
    imgSrc: ["'self'", 'data:'],
    connectSrc: ["'self'"],
  },
};

/** Middleware: what a browser may do with an answer (HOUSE 3, OPERATE 2). */
export function securityHeaders(): RequestHandler {
  const forData = headersWith(DATA_POLICY);
  const forPages = Object.entries(PAGE_POLICIES).map(([path, policy]) => ({ path, handler: headersWith(policy) }));
  return (request, response, next) => {
    const page = forPages.find(({ path }) => request.path === path || request.path.startsWith(`${path}/`));
    (page?.handler ?? forData)(request, response, next);
  };
}

function headersWith(directives: ContentPolicy): RequestHandler {
  return helmet({
    contentSecurityPolicy: { useDefaults: false, directives },
    xFrameOptions: { action: 'deny' },
    // Counts for every port of a name, and other programs share `localhost`.
    strictTransportSecurity: false,
    // Leftovers of browsers that are gone.
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xPoweredBy: false,
    xXssProtection: false,
  });
}
