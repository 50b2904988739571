import 'reflect-metadata';
import { IsDefined, IsIn, IsInt, IsNumber, IsObject, IsOptional, IsString, Max } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { DtoPipe } from './dto.pipe.js';
import { IsTextOrList, Nested, Unsupported, UNSUPPORTED_VALUE } from './dto.js';

class PartDto {
  @IsDefined()
  @IsIn(['text'], UNSUPPORTED_VALUE)
  type: string;
}

class ItemDto {
  @IsDefined()
  @IsTextOrList()
  @Nested(() => PartDto)
  content: string | PartDto[];
}

class RequestDto {
  @IsDefined()
  @IsString()
  model: string;

  @IsOptional()
  @IsTextOrList()
  @Nested(() => ItemDto)
  input?: string | ItemDto[];

  @IsOptional()
  @IsNumber()
  @Max(2)
  temperature?: number;

  @IsOptional()
  @IsInt()
  limit?: number;

  @IsOptional()
  @IsObject()
  metadata?: object;

  @Unsupported((value) => value === 0)
  logprobs?: 0;
}

const pipe = new DtoPipe({ maxInputItems: 10 });
const check = (body: unknown): unknown => pipe.transform(body, { type: 'body', metatype: RequestDto });

describe('bodies as DTOs', () => {
  it('gives an instance with nested instances and without unknown fields (WIRE B0)', () => {
    const dto = check({ model: 'm', input: [{ content: [{ type: 'text' }] }], unknown: 1 }) as RequestDto;
    expect(dto).toBeInstanceOf(RequestDto);
    expect((dto.input as ItemDto[])[0]?.content[0]).toBeInstanceOf(PartDto);
    expect(dto).not.toHaveProperty('unknown');
  });

  it('takes over free objects as they are, also with keys that other mappers stumble over', () => {
    const metadata = { constructor: 'x', toString: 'y', then: 'z' };
    expect((check({ model: 'm', metadata }) as RequestDto).metadata).toEqual(metadata);
  });

  it('ignores an unknown field called constructor, at every depth, and checks the others all the same', () => {
    for (const constructor of [null, 'x', {}]) {
      const given = { model: 'm', constructor, input: [{ content: 'a', constructor }] };
      const dto = check(given) as RequestDto;
      expect(dto).toBeInstanceOf(RequestDto);
      expect((dto.input as ItemDto[])[0]).toBeInstanceOf(ItemDto);
      expect(Object.hasOwn(dto, 'constructor')).toBe(false);
      expect(() => check({ ...given, temperature: '1' })).toThrow(expect.objectContaining({ param: 'temperature' }));
    }
  });

  it.each([
    [{}, 'missing_required_parameter', 'model'],
    [{ model: null }, 'missing_required_parameter', 'model'],
    [{ model: 5 }, 'invalid_type', 'model'],
    [{ model: 'm', input: 5 }, 'invalid_type', 'input'],
    [{ model: 'm', input: ['x'] }, 'invalid_type', 'input[0]'],
    [{ model: 'm', input: [{ content: 'a' }, null] }, 'invalid_type', 'input[1]'],
    [{ model: 'm', input: [{}] }, 'missing_required_parameter', 'input[0].content'],
    [{ model: 'm', input: [[]] }, 'invalid_type', 'input[0]'],
    [{ model: 'm', input: [{ content: [{ type: 'image' }] }] }, 'unsupported_value', 'input[0].content[0].type'],
    [{ model: 'm', temperature: '1' }, 'invalid_type', 'temperature'],
    [{ model: 'm', temperature: 2.1 }, 'invalid_value', 'temperature'],
    [{ model: 'm', temperature: Infinity }, 'invalid_value', 'temperature'],
    [{ model: 'm', limit: 1.5 }, 'invalid_value', 'limit'],
    [{ model: 'm', limit: '10' }, 'invalid_type', 'limit'],
    [{ model: 'm', metadata: [] }, 'invalid_type', 'metadata'],
    [{ model: 'm', logprobs: 5 }, 'unsupported_parameter', 'logprobs'],
    [[], 'invalid_type', null],
    ['text', 'invalid_type', null],
    [undefined, 'invalid_json', null],
  ])('refuses %j as %s naming %s', (body, code, param) => {
    expect(() => check(body)).toThrow(expect.objectContaining({ code, param }));
  });

  it('takes a no-op value and null for fields it cannot do', () => {
    expect(check({ model: 'm', logprobs: 0 })).toMatchObject({ logprobs: 0 });
    expect(check({ model: 'm', logprobs: null, temperature: null })).toMatchObject({ model: 'm' });
  });

  it('takes an absent body where no field is required', () => {
    class WishDto {
      @IsOptional()
      @IsInt()
      limit?: number;
    }
    const wish = pipe.transform(undefined, { type: 'body', metatype: WishDto });
    expect(wish).toBeInstanceOf(WishDto);
    expect(wish).toEqual({});
  });

  it('never repeats a value in its message', () => {
    expect(() => check({ model: 'm', input: [{ content: [{ type: 'secret prompt' }] }] })).toThrow(/^((?!secret).)*$/);
  });
});

describe('the number of objects in lists', () => {
  const run = (value: unknown): unknown => pipe.transform(value, { type: 'body', metatype: RequestDto });
  const items = (count: number) => Array.from({ length: count }, () => ({ content: 'a' }));

  it('is bounded before any of them is looked at', () => {
    expect(() => run({ model: 'm', input: items(10) })).not.toThrow();
    const broken = Array.from({ length: 11 }, () => 5);
    expect(() => run({ model: 'm', input: broken })).toThrow(
      expect.objectContaining({ code: 'invalid_value', param: 'input' }),
    );
  });

  it('is bounded over all lists of the body together', () => {
    const parts = Array.from({ length: 4 }, () => ({ type: 'text' }));
    const nested = { model: 'm', input: [{ content: parts }, { content: parts }] };
    expect(() => run(nested)).not.toThrow();
    const more = { model: 'm', input: [...nested.input, { content: parts }] };
    expect(() => run(more)).toThrow(expect.objectContaining({ code: 'invalid_value', param: 'input[1].content' }));
  });
});
