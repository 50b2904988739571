import { boolean, constant, listOf, nullable, object, text, type Schema } from '../openapi/index.js';

/** The list envelope of OpenAI: clients pass `last_id` as `after` for the next page. */
export interface ListObject<T> {
  object: 'list';
  data: T[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
}

export function listObject<T extends { id?: unknown }>(data: T[], hasMore: boolean): ListObject<T> {
  const idOf = (item: T | undefined): string | null => (typeof item?.id === 'string' ? item.id : null);
  return { object: 'list', data, first_id: idOf(data[0]), last_id: idOf(data.at(-1)), has_more: hasMore };
}

/** The envelope for the description of the API. */
export function listSchema(items: Schema): Schema {
  return object({
    object: constant('list'),
    data: listOf(items),
    first_id: nullable(text()),
    last_id: nullable(text('Pass it as `after` for the next page')),
    has_more: boolean(),
  });
}
