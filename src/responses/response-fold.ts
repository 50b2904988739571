import type { OutputItem, OutputLogprob, OutputTextPart, SummaryTextPart } from './response-object.js';

/** What the fold looks at of an event. */
export interface FoldedEvent {
  type: string;
  output_index?: number;
  content_index?: number;
  summary_index?: number;
  item?: OutputItem;
  part?: OutputTextPart | SummaryTextPart;
  delta?: string;
  logprobs?: OutputLogprob[];
  /** A lifecycle event's snapshot. */
  response?: { output: OutputItem[] };
}

/**
 * Applies events to an output: what a client that has seen the last snapshot and these events holds (invariants 3 and
 * 6). `payloads` are the stored JSON texts in order. A snapshot among them replaces what came before (invariant 7);
 * events that say nothing about items are passed over.
 */
export function foldOutput(output: OutputItem[], payloads: Iterable<string>): OutputItem[] {
  return foldEvents(output, parsed(payloads));
}

function* parsed(payloads: Iterable<string>): Generator<FoldedEvent> {
  for (const payload of payloads) yield JSON.parse(payload) as FoldedEvent;
}

/** The same for events that are parsed; parts of them become parts of the output. */
export function foldEvents(output: OutputItem[], events: Iterable<FoldedEvent>): OutputItem[] {
  let items = structuredClone(output);
  for (const event of events) {
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
      item(items, index, 'message').content[event.content_index ?? 0] = event.part as OutputTextPart;
      return;
    case 'response.output_text.delta': {
      const part = item(items, index, 'message').content[event.content_index ?? 0];
      if (!part) return;
      part.text += event.delta ?? '';
      part.logprobs.push(...(event.logprobs ?? []));
      return;
    }
    case 'response.reasoning_summary_part.added':
    case 'response.reasoning_summary_part.done':
      item(items, index, 'reasoning').summary[event.summary_index ?? 0] = event.part as SummaryTextPart;
      return;
    case 'response.reasoning_summary_text.delta': {
      const part = item(items, index, 'reasoning').summary[event.summary_index ?? 0];
      if (part) part.text += event.delta ?? '';
      return;
    }
    case 'response.function_call_arguments.delta':
      item(items, index, 'function_call').arguments += event.delta ?? '';
      return;
  }
}

function item<T extends OutputItem['type']>(items: OutputItem[], index: number, type: T): OutputItem & { type: T } {
  const found = items[index];
  if (found?.type !== type) throw new Error(`the event log speaks of ${type} ${index} before adding it`);
  return found as OutputItem & { type: T };
}

/** Items that are still open when the response ends otherwise than completed (invariant 10, WIRE B4 cancel). */
export function closeOpenItems(output: OutputItem[]): OutputItem[] {
  return output.map((each) => (each.status === 'in_progress' ? { ...each, status: 'incomplete' } : each));
}
