import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { StoreReader, type Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import type { JsonObject } from '../tasks/index.js';
import type { ResponseStatus } from './response-object.js';

/** What earlier responses give to a request. */
export interface Earlier {
  items: JsonObject[];
  /** The responses that the items are of. */
  responseIds: string[];
}

/** Items by the id that they were asked for with. */
export interface ReferencedItems {
  items: ReadonlyMap<string, JsonObject>;
  responseIds: string[];
}

interface ChainRow {
  id: string;
  /** Null: there is no such response. */
  status: ResponseStatus | null;
  input: string;
  output: string;
}

const NOTHING: Earlier = { items: [], responseIds: [] };

/** The stored responses that a request goes on from or refers to. Foreign and missing ones are the same (WIRE B0). */
@Injectable()
export class Conversations {
  constructor(
    private readonly reader: StoreReader,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * The conversation that ends with the response: inputs and outputs of the whole chain, oldest first. Throws
   * previous_response_not_found where it or any before it is not there or has not come to an end that can be gone on
   * from, invalid_value where the chain is too long.
   */
  async before(previousId: string | null | undefined, clientId: string): Promise<Earlier> {
    if (previousId === null || previousId === undefined) return NOTHING;
    const most = this.config.maxPreviousResponses;
    const rows = await this.chain(previousId, clientId, most);
    if (rows.length > most) {
      const message = `A conversation may have at most ${most} responses; see LMSP_MAX_PREVIOUS_RESPONSES.`;
      throw new DomainError('invalid_value', message, { param: 'previous_response_id' });
    }
    const missing = rows.find(({ status }) => status === null);
    if (missing) throw previousNotFound(previousId, missing.id);
    const status = rows.at(-1)?.status ?? '';
    if (!['completed', 'incomplete'].includes(status)) throw previousUnfinished(previousId, status);
    return { items: rows.flatMap(itemsOf), responseIds: rows.map(({ id }) => id) };
  }

  /** What the response was given: the conversation before it, as far as it is still there, and its own input. */
  async inputOf(id: string, clientId: string): Promise<JsonObject[] | null> {
    const rows = await this.chain(id, clientId, this.config.maxPreviousResponses);
    const own = rows.pop();
    if (!own || own.status === null) return null;
    const earlier = rows.filter(({ status }) => status !== null).flatMap(itemsOf);
    return [...earlier, ...(JSON.parse(own.input) as JsonObject[])];
  }

  /** The items with these ids, as far as they are there. Throws request_too_large beyond what a body may hold. */
  async items(ids: readonly string[], clientId: string): Promise<ReferencedItems> {
    if (ids.length === 0) return { items: new Map(), responseIds: [] };
    const most = this.config.maxBodyBytes;
    const rows = await this.reader.query<{ item_id: string; response_id: string; item: string | null }>(ITEMS, [
      JSON.stringify([...new Set(ids)]),
      clientId,
      most,
    ]);
    const sizes = new Map(rows.map(({ item_id, item }) => [item_id, item?.length ?? Infinity]));
    if (ids.reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0) > most) {
      throw new DomainError('request_too_large', `The items referred to have more than ${most} bytes.`, {
        param: 'input',
      });
    }
    return {
      items: new Map(rows.map(({ item_id, item }) => [item_id, JSON.parse(item!) as JsonObject])),
      responseIds: [...new Set(rows.map(({ response_id }) => response_id))],
    };
  }

  /** Oldest first; one more than `most` where the chain goes on behind them. */
  private chain(id: string, clientId: string, most: number): Promise<ChainRow[]> {
    return this.reader.query<ChainRow>(CHAIN, [id, clientId, most, clientId]);
  }
}

/** Of these responses, the ones that are no longer there. For the unit that makes what needs them. */
export async function missingOf(tx: Tx, responseIds: readonly string[]): Promise<Set<string>> {
  if (responseIds.length === 0) return new Set();
  const rows = await tx.query<{ id: string }>(
    `select value as id from json_each(?) as given
     where not exists (select 1 from responses where id = given.value)`,
    [JSON.stringify([...new Set(responseIds)])],
  );
  return new Set(rows.map(({ id }) => id));
}

/** `missing`: the one that is not there, perhaps one that the asked-for goes on from. */
export function previousNotFound(id: string, missing: string): DomainError {
  const message =
    id === missing
      ? `No response with id "${id}" exists.`
      : `The conversation is not whole: the response "${missing}" is gone.`;
  return new DomainError('previous_response_not_found', message, { param: 'previous_response_id' });
}

function previousUnfinished(id: string, status: string): DomainError {
  const message = `The response "${id}" is ${status}; only a completed or incomplete one can be gone on from.`;
  return new DomainError('previous_response_not_found', message, { param: 'previous_response_id' });
}

function itemsOf({ input, output }: ChainRow): JsonObject[] {
  return [...(JSON.parse(input) as JsonObject[]), ...(JSON.parse(output) as JsonObject[])];
}

const CHAIN = `
  with recursive chain(id, depth) as (
    select ?, 0
    union all
    select r.previous_response_id, c.depth + 1 from chain c join responses r on r.id = c.id and r.client_id = ?
    where r.previous_response_id is not null and c.depth < ?)
  select c.id, r.status, r.input, r.body->'$.output' as output
  from chain c left join responses r on r.id = c.id and r.client_id = ? order by c.depth desc`;

/** `item` is null beyond the size that the items may have together. */
const ITEMS = `
  with found as (
    select i.item_id, i.response_id, coalesce(
      (select e.value from json_each(r.input) e where e.value->>'id' = i.item_id),
      (select e.value from json_each(r.body, '$.output') e where e.value->>'id' = i.item_id)) as item
    from json_each(?) g join response_items i on i.item_id = g.value
    join responses r on r.id = i.response_id and r.client_id = ?)
  select item_id, response_id,
    case when sum(length(item)) over (order by item_id rows unbounded preceding) <= ? then item end as item
  from found where item is not null`;
