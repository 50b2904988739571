import { Injectable, RequestMethod, type OnModuleInit } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { StartRefused } from '../errors/index.js';
import { ACCESS, type Access } from './access.decorators.js';
import { isScope } from './scopes.js';

/** One route of the application and who may use it. */
export interface RouteAccess {
  method: string;
  /** With parameters as the router has them: `/v1/tasks/:id`. */
  path: string;
  access: Access;
  /** Class of its controller. */
  controller: NewableFunction;
}

type Method = (...parameters: unknown[]) => unknown;

/**
 * Every route of the application, whichever module it comes from. A route that nobody marked stops the start, and so does
 * one that needs a scope that there is not, or that two controllers have.
 */
@Injectable()
export class RouteAccesses implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
  ) {}

  onModuleInit(): void {
    const routes = this.all();
    const problems = [...routes.flatMap(unknownScopes), ...claimedTwice(routes)];
    if (problems.length > 0) throw new StartRefused(problems);
  }

  /** In the order of their paths. Throws when one has no mark. */
  all(): RouteAccess[] {
    const routes = this.discovery.getControllers().flatMap(({ instance, metatype }) => {
      if (!metatype || typeof instance !== 'object' || instance === null) return [];
      const prototype = Object.getPrototypeOf(instance) as Record<string, Method>;
      return this.scanner
        .getAllMethodNames(prototype)
        .flatMap((name) => this.routesOf(metatype, prototype[name]!, `${metatype.name}.${name}`));
    });
    return routes.sort((a, b) => (a.path + a.method < b.path + b.method ? -1 : 1));
  }

  private routesOf(controller: NewableFunction, handler: Method, name: string): RouteAccess[] {
    const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
    if (method === undefined) return [];
    const access = this.reflector.getAllAndOverride<Access | undefined>(ACCESS, [handler, controller as never]);
    if (access === undefined) throw new Error(`${name} says nowhere who may use it: RequireScope, AnyClient or Public`);
    return pathsOf(controller).flatMap((head) =>
      pathsOf(handler).map((tail) => ({ method: RequestMethod[method], path: joined(head, tail), access, controller })),
    );
  }
}

/** `none`, `any token`, `tasks:read`, `clients:manage or own`, `tasks:cancel or operator:manage`. */
export function accessInWords(access: Access): string {
  if (access.kind === 'public') return 'none';
  if (access.kind === 'any') return 'any token';
  return [...access.scopes, ...(access.own === null ? [] : ['own'])].join(' or ');
}

function unknownScopes({ method, path, access, controller }: RouteAccess): string[] {
  const scopes = access.kind === 'scopes' ? access.scopes : [];
  return scopes
    .filter((scope) => !isScope(scope))
    .map(
      (scope) => `the route ${method} ${path} of ${controller.name} needs the scope ${scope}, which nobody declares`,
    );
}

function claimedTwice(routes: readonly RouteAccess[]): string[] {
  const owners = new Map<string, string>();
  return routes.flatMap(({ method, path, controller }) => {
    // Names of parameters make no difference to the router.
    const route = `${method} ${path.replaceAll(/:\w+/g, ':_')}`;
    const other = owners.get(route);
    owners.set(route, controller.name);
    return other === undefined ? [] : [`the route ${method} ${path} is claimed by ${other} and ${controller.name}`];
  });
}

function pathsOf(target: object): string[] {
  const path = Reflect.getMetadata(PATH_METADATA, target) as string | string[] | undefined;
  return typeof path === 'object' ? path : [path ?? ''];
}

function joined(...parts: string[]): string {
  return `/${parts
    .map((part) => part.replace(/^\/|\/$/g, ''))
    .filter((part) => part !== '')
    .join('/')}`;
}
