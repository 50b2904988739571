import type * as swaggerLibrary from '@nestjs/swagger';

export type Swagger = typeof swaggerLibrary;
type Decorator = ClassDecorator & MethodDecorator;

const waiting: ((swagger: Swagger) => void)[] = [];

/**
 * A decorator of @nestjs/swagger that takes effect once the description is made. Loading the library takes a fifth of a
 * start, and few services are ever asked for their description.
 */
export function whenDescribed(decorator: (swagger: Swagger) => ClassDecorator | MethodDecorator): Decorator {
  return (...target: unknown[]): void => {
    waiting.push((swagger) => (decorator(swagger) as (...target: unknown[]) => void)(...target));
  };
}

/** Groups the routes of a controller in the description of the API. */
export function Tag(name: string): ClassDecorator {
  return whenDescribed(({ ApiTags }) => ApiTags(name));
}

/** The library, with all that waited for it applied. */
export async function loadSwagger(): Promise<Swagger> {
  const swagger = await import('@nestjs/swagger');
  for (const apply of waiting.splice(0)) apply(swagger);
  return swagger;
}
