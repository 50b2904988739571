import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { readRepositoryFile } from '../architecture/source-files.js';
import { Random } from '../support/random.js';
import type { ApiDocument } from './request-maker.js';
import { SchemaValues } from './schema-values.js';

const { components } = JSON.parse(readRepositoryFile('openapi.json')) as ApiDocument;

it('valid values fit their schema, damaged ones mostly do not', () => {
  const values = new SchemaValues(new Random(1), components.schemas);
  const schema = { $ref: '#/components/schemas/CreateResponse' };
  const fits = new Ajv2020({ strict: false }).compile({ ...schema, components });
  const share = (make: () => unknown): number =>
    Array.from({ length: 200 }, make).filter((value) => fits(value)).length / 200;
  expect(share(() => values.valid(schema))).toBe(1);
  expect(share(() => values.damaged(schema))).toBeLessThan(0.7);
});
