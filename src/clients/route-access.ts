import { Injectable, RequestMethod, type OnModuleInit } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { ACCESS, type Access } from './access.decorators.js';

/** One route of the application and who may use it. */
export interface RouteAccess {
  method: string;
  /** With parameters as the router has them: `/v1/tasks/:id`. */
  path: string;
  access: Access;
}

type Method = (...parameters: unknown[]) => unknown;

/** Every route of the application, whichever module it comes from. A route that nobody marked stops the start. */
@Injectable()
export class RouteAccesses implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
  ) {}

  onModuleInit(): void {
    this.all();
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
      pathsOf(handler).map((tail) => ({ method: RequestMethod[method], path: joined(head, tail), access })),
    );
  }
}

/** `none`, `any token`, `tasks:read`, `clients:manage or own`, `tasks:cancel or operator:manage`. */
export function accessInWords(access: Access): string {
  if (access.kind === 'public') return 'none';
  if (access.kind === 'any') return 'any token';
  return [...access.scopes, ...(access.own === null ? [] : ['own'])].join(' or ');
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
