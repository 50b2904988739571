import type { OutputItem, OutputTextPart } from './response-object.js';

interface FoldedEvent {
  type: string;
  output_index?: number;
  content_index?: number;
  item?: OutputItem;
  part?: OutputTextPart;
  delta?: string;
  /** A lifecycle event's snapshot. */
  response?: { output: OutputItem[] };
}

/**
 * Applies events to an output: what a client that has seen the last snapshot and these events holds (invariants 3 and
 * 6). `payloads` are the stored JSON texts in order. A snapshot among them replaces what came before (invariant 7);
 * events that say nothing about items are passed over.
 */
export function foldOutput(output: OutputItem[], payloads: Iterable<string>): OutputItem[] {
  let items = structuredClone(output);
  for (const payload of payloads) {
    const event = JSON.parse(payload) as FoldedEvent;
    if (event.response) items = event.response.output;
    else apply(items, event);
  }
  return items;
}

function apply(items: OutputItem[], event: FoldedEvent): void {
  const index = event.output_index ?? -1;
  switch (event.type) {
    case 'response.output_item.added':
    case 'response.output_item.done':
      if (event.item) items[index] = event.item;
      return;
    case 'response.content_part.added':
    case 'response.content_part.done':
      if (event.part) part(items, index).content[event.content_index ?? 0] = event.part;
      return;
    case 'response.output_text.delta': {
      const text = part(items, index).content[event.content_index ?? 0];
      if (text) text.text += event.delta ?? '';
      return;
    }
  }
}

function part(items: OutputItem[], index: number): OutputItem {
  const item = items[index];
  if (!item) throw new Error(`the event log speaks of item ${index} before adding it`);
  return item;
}

/** Items that are still open when the response ends otherwise than completed (invariant 10, WIRE B4 cancel). */
export function closeOpenItems(output: OutputItem[]): OutputItem[] {
  return output.map((item) => (item.status === 'in_progress' ? { ...item, status: 'incomplete' } : item));
}
