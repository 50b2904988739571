import { EntityManager, QueryBuilder, Repository } from 'typeorm';

type Watch = (use: string, outcome: Promise<unknown>) => Promise<unknown>;

/**
 * The same entity manager, repository or query builder, but every promise it hands out passes through `watch`. TypeORM
 * awaits its own statements, so only this outer edge shows whether the caller awaited the whole operation.
 */
export function watched<T extends object>(target: T, watch: Watch): T {
  const proxy: T = new Proxy(target, {
    get(object, name): unknown {
      const member: unknown = Reflect.get(object, name, object);
      if (typeof member !== 'function') return member;
      return (...values: unknown[]): unknown => {
        const result: unknown = Reflect.apply(member, object, values);
        if (result === object) return proxy;
        if (result instanceof Promise) return watch(`${object.constructor.name}.${String(name)}`, result);
        return handsOutPromises(result) ? watched(result, watch) : result;
      };
    },
  });
  return proxy;
}

function handsOutPromises(value: unknown): value is object {
  return value instanceof QueryBuilder || value instanceof Repository || value instanceof EntityManager;
}
