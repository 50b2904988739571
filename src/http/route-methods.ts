import type { Application, Request } from 'express';

/** The part of express's router that is read here: one layer per route, in order of registration. */
interface RouterLayer {
  match(path: string): boolean;
  route?: { path: unknown; methods: Record<string, boolean> };
}

/** Methods that routes of this path answer to, in capitals; none: the path does not exist. */
export function allowedMethods(request: Request): string[] {
  const methods = new Set<string>();
  for (const layer of layersOf(request.app)) {
    if (!layer.route || layer.route.methods['_all'] || !matches(layer, request.path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}

/** The patterns of all routes, as `http.request` names them. */
export function routePatterns(application: Application): string[] {
  const paths = layersOf(application).map(({ route }) => route?.path);
  return [...new Set(paths.filter((path) => typeof path === 'string'))];
}

function layersOf(application: Application): RouterLayer[] {
  return (application.router as unknown as { stack: RouterLayer[] }).stack;
}

function matches(layer: RouterLayer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return false; // A malformed escape in a parameter: no route is meant.
  }
}
