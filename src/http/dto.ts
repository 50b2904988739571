import { applyDecorators } from '@nestjs/common';
import { Allow, registerDecorator, type ValidationArguments } from 'class-validator';
import type { ErrorCode } from '../errors/index.js';
import { schemaOfDto, type Schema } from '../openapi/index.js';

export type DtoClass<T extends object = object> = new () => T;

/** Classes of which an object's own values choose one. */
export interface DtoVariants {
  all: readonly DtoClass[];
  of(plain: object): DtoClass;
}

type NestedDto = DtoClass | DtoVariants;

const NESTED = Symbol('nested');

/** The classes of a DTO's nested properties, by property name. */
export function nestedOf(prototype: object): ReadonlyMap<string, NestedDto> {
  return (Reflect.getOwnMetadata(NESTED, prototype) as Map<string, NestedDto> | undefined) ?? new Map();
}

/**
 * Where the property holds an object or an array, each object is checked as a DTO of its own. Anything else is left to
 * the property's other decorators: `input` is a text or items.
 */
export function Nested(type: () => NestedDto): PropertyDecorator {
  const remember: PropertyDecorator = (prototype, property) => {
    Reflect.defineMetadata(NESTED, new Map([...nestedOf(prototype), [String(property), type()]]), prototype);
  };
  return applyDecorators(Allow(), remember);
}

/** A rule of our own. `message` completes "'field' …". */
export function Rule(
  name: string,
  message: string,
  holds: (value: unknown, args: ValidationArguments) => boolean,
  code?: ErrorCode,
): PropertyDecorator {
  return (prototype, property) => {
    registerDecorator({
      name,
      target: prototype.constructor,
      propertyName: String(property),
      options: { message: `$property ${message}`, ...(code && { context: { code } }) },
      validator: { validate: (value: unknown, args) => holds(value, args!) },
    });
  };
}

/**
 * A field that the API knows and this service cannot do: refused unless its value asks for nothing (null and absence
 * never do). Silence about what matters would be worse (WIRE B0).
 */
export function Unsupported(isNoOp: (value: unknown) => boolean = () => false): PropertyDecorator {
  const message = 'is not supported; leave it out';
  const asksForNothing = (value: unknown): boolean => value === undefined || value === null || isNoOp(value);
  return Rule('unsupported', message, asksForNothing, 'unsupported_parameter');
}

/** Validation option: the refused value is one that the API knows. */
export const UNSUPPORTED_VALUE: { context: { code: ErrorCode } } = { context: { code: 'unsupported_value' } };

/** A text or a list, as OpenAI has it in many places. */
export function IsTextOrList(): PropertyDecorator {
  const holds = (value: unknown): boolean => typeof value === 'string' || Array.isArray(value);
  return Rule('isTextOrList', 'must be a string or an array', holds);
}

/** The DTO as the description of the API tells of it. */
export function bodyOf(dto: DtoClass): Schema {
  return schemaOfDto(dto, nestedOf);
}
