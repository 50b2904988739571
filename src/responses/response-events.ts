import type { FinishReason, StepLogprobs, TokenLogprob } from '../inference/index.js';
import type { EventDraft } from '../tasks/index.js';
import { itemIdentifier, OpenCall, OpenMessage, OpenReasoning, type OpenItem } from './output-items.js';
import { OutputParser, type OutputPiece } from './output-parser.js';
import type { OutputSyntax } from './output-syntax.js';
import type { OutputItem, OutputLogprob } from './response-object.js';

/** What one generated token adds to the answer. */
export interface TextStep {
  text: string;
  finish: FinishReason | null;
  logprobs?: StepLogprobs | undefined;
}

const PLAIN: OutputSyntax = { reasoning: null, calls: null };

/**
 * Turns the steps of one start into events: a pure function of the response id, the start count, the syntax and the
 * steps (invariant 11). One item at a time; one delta for each step that yields text of it.
 */
export class ResponseEvents {
  private readonly parser: OutputParser;
  private item: OpenItem | null = null;
  private items = 0;
  /** Of tokens whose text has not come yet. */
  private pending: OutputLogprob[] = [];
  private tooMany = false;
  private reasoned = false;

  constructor(
    private readonly responseId: string,
    private readonly startCount: number,
    syntax: OutputSyntax = PLAIN,
  ) {
    this.parser = new OutputParser(syntax);
  }

  /** The output is at its end although the generation is not: a call too many would follow. */
  get ended(): boolean {
    return this.tooMany;
  }

  /** The token of the last step was one of the reasoning. */
  get reasoning(): boolean {
    return this.reasoned;
  }

  /** The events of the next step, perhaps none. */
  next({ text, finish, logprobs }: TextStep): EventDraft[] {
    if (this.tooMany) return [];
    const wasReasoning = this.parser.reasoning;
    if (logprobs && (text !== '' || finish === null)) this.pending.push(onWire(logprobs));
    const events = this.parser.isPlain && !this.item ? this.open('message') : [];
    events.push(...this.apply(this.parser.push(text)));
    this.reasoned = wasReasoning || this.parser.reasoning;
    if (finish !== null && !this.tooMany) events.push(...this.finish(finish));
    return events;
  }

  /** Log probabilities that readers have seen: steps that are made again have none. */
  adopt(output: readonly OutputItem[]): void {
    this.item?.adopt(output.at(-1));
  }

  private finish(finish: FinishReason): EventDraft[] {
    const events = this.apply(this.parser.end());
    if (this.items === 0) events.push(...this.open('message'));
    return [...events, ...this.close(finish === 'stop' ? 'completed' : 'incomplete')];
  }

  private apply(pieces: readonly OutputPiece[]): EventDraft[] {
    return pieces.flatMap((piece) => this.piece(piece));
  }

  private piece(piece: OutputPiece): EventDraft[] {
    switch (piece.kind) {
      case 'text':
        return this.write('message', piece.text);
      case 'reasoning':
        return this.write('reasoning', piece.text);
      case 'arguments':
        return this.write('function_call', piece.text);
      case 'call':
        return this.open('function_call', piece.name);
      case 'reasoning_end':
        return this.close('completed');
      case 'call_end':
        return this.close(piece.whole ? 'completed' : 'incomplete');
      case 'call_too_many':
        this.tooMany = true;
        return this.close('completed');
    }
  }

  private write(kind: OpenItem['kind'], text: string): EventDraft[] {
    const events = this.item?.kind === kind ? [] : this.open(kind);
    const logprobs = this.pending;
    this.pending = [];
    return [...events, ...this.item!.append(text, kind === 'message' ? logprobs : [])];
  }

  private open(kind: OpenItem['kind'], name = ''): EventDraft[] {
    const events = this.close('completed');
    const index = this.items++;
    const id = (prefix: string): string => itemIdentifier(prefix, this.responseId, this.startCount, index);
    if (kind === 'message') this.item = new OpenMessage({ id: id('msg'), index });
    else if (kind === 'reasoning') this.item = new OpenReasoning({ id: id('rs'), index });
    else this.item = new OpenCall({ id: id('fc'), index }, { id: id('call'), name });
    return [...events, ...this.item.opened()];
  }

  private close(status: 'completed' | 'incomplete'): EventDraft[] {
    const events = this.item?.closed(status) ?? [];
    this.item = null;
    return events;
  }
}

function onWire({ top, ...drawn }: StepLogprobs): OutputLogprob {
  return { ...tokenOnWire(drawn), top_logprobs: top.map(tokenOnWire) };
}

function tokenOnWire({ text, bytes, logprob }: TokenLogprob): { token: string; bytes: number[]; logprob: number } {
  return { token: text, bytes, logprob };
}
