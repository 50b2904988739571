import { Inject, Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';
import { CONFIG, type Config } from '../config/index.js';
import { DomainError, type ErrorCode } from '../errors/index.js';
import { nestedOf, type DtoClass, type DtoVariants } from './dto.js';
import { invalidJson } from './json.js';

/** Constraints that speak of a value's type rather than of its range. */
const TYPE_CONSTRAINTS = ['isString', 'isBoolean', 'isInt', 'isNumber', 'isArray', 'isObject', 'isTextOrList'];
const NUMBER_CONSTRAINTS = ['isInt', 'isNumber'];

/**
 * Bodies become checked DTOs: the first complaint is a DomainError whose `param` is the path of the field
 * (`input[0].content`). Unknown fields are dropped (WIRE B0).
 */
@Injectable()
export class DtoPipe implements PipeTransform {
  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'maxInputItems'>) {}

  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (type !== 'body' || metatype === undefined || metatype === Object) return value;
    if (value === undefined) return absent(metatype as DtoClass);
    if (!isPlainObject(value)) throw new DomainError('invalid_type', 'The body must be a JSON object.');
    return readDto(metatype as DtoClass, value, this.config.maxInputItems);
  }
}

/**
 * The object as a checked DTO, as the pipe makes one of a body. `mostItems`: objects in its lists, in all. `path`: where
 * the object stands in the body, so that complaints name `input.pages` and not `pages`.
 */
export function readDto<T extends object>(type: DtoClass<T>, plain: object, mostItems: number, path = ''): T {
  return checked(type, plain, path, { items: mostItems });
}

/** A body without a required field may be left out. */
function absent(type: DtoClass): object {
  try {
    return checked(type, {}, '', { items: 0 });
  } catch {
    throw invalidJson('Send a JSON object as the body.');
  }
}

/**
 * The object as an instance of its DTO, valid to its leaves. Values are taken over as they are: class-transformer
 * would crash on a key `constructor` and drop others. Only known fields are looked at: a body may have any number of
 * others, and one called `constructor` would hide the class that the validator asks for.
 */
function checked<T extends object>(type: DtoClass<T>, plain: object, path: string, left: Allowance): T {
  const dto = new type();
  const fields = fieldsOf(type);
  // The validator takes a class without rules for a mistake; it may be one that asks for nothing.
  if (fields.length === 0) return dto;
  for (const field of fields) {
    if (Object.hasOwn(plain, field)) Reflect.set(dto, field, Reflect.get(plain, field));
  }
  const [error] = validateSync(dto, { validationError: { target: false } });
  if (error) throw problem(error, path);
  for (const [property, nested] of nestedOf(type.prototype as object)) {
    const value: unknown = Reflect.get(dto, property);
    const at = pathOf(path, property);
    if (Array.isArray(value)) {
      spend(left, value.length, at);
      Reflect.set(
        dto,
        property,
        value.map((each, index) => element(nested, each, `${at}[${index}]`, left)),
      );
    } else if (isPlainObject(value)) Reflect.set(dto, property, element(nested, value, at, left));
  }
  return dto;
}

/** Objects in lists that the body may still have: each costs far more than its bytes. */
interface Allowance {
  items: number;
}

function spend(left: Allowance, items: number, param: string): void {
  left.items -= items;
  if (left.items >= 0) return;
  throw new DomainError('invalid_value', `'${param}' has too many elements; see LMSP_MAX_INPUT_ITEMS.`, { param });
}

const FIELDS = new Map<DtoClass, readonly string[]>();

/** Every property of the class that has a rule. */
function fieldsOf(type: DtoClass): readonly string[] {
  const known = FIELDS.get(type);
  if (known) return known;
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const fields = [...new Set(rules.map((rule) => rule.propertyName))];
  FIELDS.set(type, fields);
  return fields;
}

function element(type: DtoClass | DtoVariants, value: unknown, path: string, left: Allowance): object {
  if (isPlainObject(value)) return checked('of' in type ? type.of(value) : type, value, path, left);
  throw new DomainError('invalid_type', `'${path}' must be an object.`, { param: path });
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function problem({ property, value, constraints = {}, contexts }: ValidationError, parent: string): DomainError {
  const param = pathOf(parent, property);
  if (value === undefined || value === null) {
    return new DomainError('missing_required_parameter', `'${param}' is required.`, { param });
  }
  const names = Object.keys(constraints);
  const name = names.find((each) => TYPE_CONSTRAINTS.includes(each)) ?? names[0] ?? '';
  const stated = (contexts?.[name] as { code?: ErrorCode } | undefined)?.code;
  // class-validator's messages begin with the property and never repeat the value.
  const rest = (constraints[name] ?? '').replace(/^\S+ /, '').replace(/\.$/, '');
  return new DomainError(stated ?? codeOf(name, value), `'${param}' ${rest}.`, { param });
}

function codeOf(name: string, value: unknown): ErrorCode {
  // 1.5 where a whole number belongs, or 1e309, is a number all the same: its value is wrong.
  if (NUMBER_CONSTRAINTS.includes(name) && typeof value === 'number') return 'invalid_value';
  return TYPE_CONSTRAINTS.includes(name) ? 'invalid_type' : 'invalid_value';
}

function pathOf(parent: string, property: string): string {
  return parent === '' ? property : `${parent}.${property}`;
}
