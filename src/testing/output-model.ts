import type { Faults } from './fault.js';

interface PartPayload {
  type: string;
  text: string;
}

/** An output item as events and snapshots carry it. */
export interface ItemPayload {
  id: string;
  type: string;
  status: string;
  content?: PartPayload[];
  summary?: PartPayload[];
  arguments?: string;
}

/** An event about the output. */
export interface OutputEvent {
  type: string;
  output_index?: number;
  content_index?: number;
  item_id?: string;
  item?: ItemPayload;
  part?: PartPayload;
  delta?: string;
  text?: string;
  arguments?: string;
}

/** The words of each kind of item: what its part, its text and the joined text are called in its events. */
const KINDS: Record<string, { part: string | null; text: string }> = {
  message: { part: 'content_part', text: 'output_text' },
  reasoning: { part: 'reasoning_summary_part', text: 'reasoning_summary_text' },
  function_call: { part: null, text: 'function_call_arguments' },
};

interface Item {
  kind: string;
  id: string;
  /** Null until its part was added. */
  text: string | null;
  textDone: boolean;
  partDone: boolean;
  /** Status of its done event. */
  done: string | null;
}

/**
 * What a reader holds who applies a response's events one by one, and what each may say then (WIRE B5 invariants 3, 5, 6,
 * 7, 10). Written apart from the product's own fold: it is what that fold is judged by.
 */
export class OutputModel {
  private items: Item[] = [];
  private readonly formerIds = new Set<string>();

  constructor(private readonly faults: Faults) {}

  apply(event: OutputEvent, number: number): void {
    const at = `${event.type} (${number})`;
    if (event.type === 'response.output_item.added') {
      this.add(event, at);
      return;
    }
    const item = this.items[event.output_index ?? -1];
    if (!item) {
      this.faults.unless(false, 'invariant 5', `${at} is about item ${event.output_index}, which was not added`);
      return;
    }
    this.faults.unless(item.done === null, 'invariant 5', `${at} comes after the item's done`);
    this.faults.unless((event.item?.id ?? event.item_id) === item.id, 'invariant 5', `${at} names another item`);
    this.change(item, event, at);
  }

  private add({ output_index: index, item }: OutputEvent, at: string): void {
    this.faults.unless(index === this.items.length, 'invariant 5', `${at} has index ${index} of ${this.items.length}`);
    this.faults.unless(
      this.items.every(({ done }) => done !== null),
      'invariant 5',
      `${at} while another item is open`,
    );
    const id = item?.id ?? '';
    this.faults.unless(!this.formerIds.has(id), 'B0', `${at} uses the item id of an earlier start again`);
    const kind = item?.type ?? '';
    const { part = null } = KINDS[kind] ?? {};
    this.faults.unless(kind in KINDS, 'B5', `${at} adds a ${kind}`);
    this.items.push({
      kind,
      id,
      text: part === null ? '' : null,
      textDone: false,
      partDone: part === null,
      done: null,
    });
  }

  private change(item: Item, event: OutputEvent, at: string): void {
    const open = item.text !== null && !item.textDone;
    const { part = null, text = '' } = KINDS[item.kind] ?? {};
    switch (event.type) {
      case `response.${part}.added`:
        this.faults.unless(item.text === null, 'invariant 5', `${at} adds the part twice`);
        item.text = event.part?.text ?? '';
        return;
      case `response.${text}.delta`:
        this.faults.unless(open, 'invariant 5', `${at} has no open part`);
        this.faults.unless((event.delta ?? '') !== '', 'invariant 8', `${at} is empty`);
        item.text = (item.text ?? '') + (event.delta ?? '');
        return;
      case `response.${text}.done`:
        this.faults.unless(open, 'invariant 5', `${at} has no open part`);
        this.faults.unless(
          (event.text ?? event.arguments) === item.text,
          'invariant 6',
          `${at} is not the joined deltas`,
        );
        item.textDone = true;
        return;
      case `response.${part}.done`:
        this.faults.unless(item.textDone && !item.partDone, 'invariant 5', `${at} is out of order`);
        this.faults.unless(event.part?.text === item.text, 'invariant 6', `${at} is not the joined deltas`);
        item.partDone = true;
        return;
      case 'response.output_item.done':
        this.faults.unless(item.partDone && item.textDone, 'invariant 5', `${at} is out of order`);
        this.faults.unless(joined(event.item) === item.text, 'invariant 6', `${at} is not the joined deltas`);
        item.done = event.item?.status ?? '';
        return;
      default:
        this.faults.unless(false, 'B5', `${at} is no event of a ${item.kind}`);
    }
  }

  /** A lifecycle event's snapshot: the fold of the events up to it, and from then on what a reader holds. */
  snapshot(type: string, output: ItemPayload[], number: number): void {
    const at = `${type} (${number})`;
    if (type === 'response.created' || type === 'response.queued') {
      this.faults.unless(output.length === 0, 'invariant 7', `${at} has output`);
      for (const { id } of this.items) this.formerIds.add(id);
      this.items = [];
      return;
    }
    const seen = output.map((item) => ({ id: item.id, status: item.status, text: joined(item) }));
    const expected = this.items.map((item) => ({ id: item.id, status: statusOf(item, type), text: item.text }));
    const equal = JSON.stringify(seen) === JSON.stringify(expected);
    const ends = type === 'response.completed' || type === 'response.incomplete';
    this.faults.unless(
      equal,
      ends ? 'invariant 6' : 'invariant 3',
      `the output of ${at} is not the fold of the events`,
    );
    if (ends) this.end(type, at);
  }

  /** A call that was written to its end may stand before the limit, or before an end that came too early. */
  private end(type: string, at: string): void {
    const last = this.items.at(-1);
    const expected = type === 'response.completed' ? 'completed' : 'incomplete';
    const right = last?.kind === 'function_call' ? last.done !== null : last?.done === expected;
    this.faults.unless(right, 'invariant 10', `the last item of ${at} is ${last?.done ?? 'open'}`);
  }
}

/** An item that nothing ended is open, or incomplete in the last snapshot (WIRE B4 cancel). */
function statusOf(item: Item, type: string): string {
  if (item.done !== null) return item.done;
  return type === 'response.in_progress' ? 'in_progress' : 'incomplete';
}

function joined(item: ItemPayload | undefined): string | null {
  if (item?.arguments !== undefined) return item.arguments;
  const parts = item?.content ?? item?.summary ?? [];
  return parts.length === 0 ? null : parts.map((part) => part.text).join('');
}
