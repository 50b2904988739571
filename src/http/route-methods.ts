import type { Request } from 'express';

/** The part of express's router that is read here: one layer per route, in order of registration. */
interface RouterLayer {
  match(path: string): boolean;
  route?: { methods: Record<string, boolean> };
}

/** Methods that routes of this path answer to, in capitals; none: the path does not exist. */
export function allowedMethods(request: Request): string[] {
  const { stack } = request.app.router as unknown as { stack: RouterLayer[] };
  const methods = new Set<string>();
  for (const layer of stack) {
    if (!layer.route || layer.route.methods['_all'] || !matches(layer, request.path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}

function matches(layer: RouterLayer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return false; // A malformed escape in a parameter: no route is meant.
  }
}
