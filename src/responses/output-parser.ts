import { undecided } from '../inference/index.js';
import { parsed, readCallHead } from './call-head.js';
import { JsonObjectEnd } from './json-object-end.js';
import { REASONING_CLOSE, REASONING_OPEN, type OutputSyntax } from './output-syntax.js';

/** What a piece of text turns out to be. */
export type OutputPiece =
  | { kind: 'reasoning' | 'text' | 'arguments'; text: string }
  | { kind: 'reasoning_end' }
  | { kind: 'call'; name: string }
  /** `whole`: its arguments are JSON. */
  | { kind: 'call_end'; whole: boolean }
  /** A call would begin here that may not: the output is at its end. */
  | { kind: 'call_too_many' };

type State =
  /** Nothing has come but white space. */
  | 'start'
  | 'reasoning'
  /** Text in which a call may begin. */
  | 'text'
  /** Text in which nothing is looked for. */
  | 'plain'
  /** Behind what opens a call, before its arguments. */
  | 'head'
  | 'arguments'
  /** Behind the arguments, inside the object of the call. */
  | 'tail'
  /** Behind the object of a call. */
  | 'behind'
  | 'ended';

/** What stands between calls, by what closes them; others are opened each. */
const SEPARATORS: Record<string, string> = { ']': ',', '': ';' };

/** Some models of Llama's family write it before a call. */
const PYTHON_TAG = '<|python_tag|>';

/**
 * Tells reasoning, text and calls apart in text that comes in pieces: a pure function of the pieces joined, but for where
 * its own pieces are cut. What may still become a marker is held back; what looked like a call and is none stays text.
 */
export class OutputParser {
  private state: State;
  private held = '';
  private pieces: OutputPiece[] = [];
  private calls = 0;
  private scanner = new JsonObjectEnd();
  private argumentsText = '';
  private whole = false;
  /** What opened the call that is being read: text again, should it be none. */
  private opening = '';
  /** White space is dropped until other text comes. */
  private trimming = false;

  constructor(private readonly syntax: OutputSyntax) {
    this.state = syntax.reasoning === 'open' ? 'reasoning' : syntax.reasoning ? 'start' : this.textState;
    this.trimming = syntax.reasoning === 'open';
  }

  get reasoning(): boolean {
    return this.state === 'reasoning';
  }

  /** Neither reasoning nor calls: every text is the message's. */
  get isPlain(): boolean {
    return this.syntax.reasoning === null && this.syntax.calls === null;
  }

  push(text: string): OutputPiece[] {
    this.held += text;
    while (this.held !== '' && this.advance());
    return this.taken();
  }

  /** What is left when no more text comes; a call or reasoning may stay open. */
  end(): OutputPiece[] {
    if (this.state === 'reasoning') this.emit('reasoning', this.held.trimEnd());
    else if (this.state === 'head') this.emit('text', this.opening + this.held);
    else if (this.inCall && !this.whole) this.pieces.push({ kind: 'call_end', whole: false });
    else if (this.state === 'start' || this.state === 'text' || this.state === 'plain') this.emit('text', this.held);
    this.held = '';
    return this.taken();
  }

  /** False: more text is needed. */
  private advance(): boolean {
    switch (this.state) {
      case 'start':
        return this.start();
      case 'reasoning':
        return this.reason();
      case 'text':
        return this.text();
      case 'plain':
        return this.emit('text', this.consume(this.held.length));
      case 'head':
        return this.head();
      case 'arguments':
        return this.readArguments();
      case 'tail':
        return this.tail();
      case 'behind':
        return this.behind();
      case 'ended':
        this.held = '';
        return false;
    }
  }

  private start(): boolean {
    const text = this.held.trimStart();
    if (!text.startsWith(REASONING_OPEN)) return !REASONING_OPEN.startsWith(text) && this.go(this.textState);
    this.held = text.slice(REASONING_OPEN.length);
    this.trimming = true;
    return this.go('reasoning');
  }

  private reason(): boolean {
    const at = this.held.indexOf(REASONING_CLOSE);
    if (at < 0) return this.emitSure('reasoning', [REASONING_CLOSE]);
    this.emit('reasoning', this.consume(at).trimEnd());
    this.consume(REASONING_CLOSE.length);
    this.pieces.push({ kind: 'reasoning_end' });
    this.trimming = true;
    return this.go(this.textState);
  }

  private text(): boolean {
    const { form } = this.syntax.calls!;
    const marker = markerOf(form.open);
    if (marker === '') return this.bareCall();
    const at = this.held.indexOf(marker);
    if (at < 0) return this.emitSure('text', [marker]);
    this.emit('text', this.consume(at).trimEnd());
    return this.open(this.consume(marker.length));
  }

  /** A call without a marker is the whole text. */
  private bareCall(): boolean {
    const text = this.held.trimStart();
    if (text === '' || (text.length < PYTHON_TAG.length && PYTHON_TAG.startsWith(text))) return false;
    if (text.startsWith(PYTHON_TAG)) return this.open(this.consume(this.held.indexOf(PYTHON_TAG) + PYTHON_TAG.length));
    return text.startsWith('{') ? this.open('') : this.go('plain');
  }

  private open(opening: string): boolean {
    const { most } = this.syntax.calls!;
    if (most !== null && this.calls >= most) {
      this.pieces.push({ kind: 'call_too_many' });
      return this.go('ended');
    }
    this.opening = opening;
    return this.go('head');
  }

  private head(): boolean {
    const head = readCallHead(this.held);
    if (head.kind === 'undecided') return false;
    if (head.kind === 'none' || !this.syntax.calls!.names.includes(head.name)) return this.noCall();
    this.calls += 1;
    this.consume(head.length);
    this.pieces.push({ kind: 'call', name: head.name });
    this.argumentsText = '';
    this.whole = false;
    this.scanner = new JsonObjectEnd();
    if (head.kind === 'streamed') return this.go('arguments');
    this.emit('arguments', head.arguments);
    this.whole = true;
    return this.go('behind');
  }

  /** What opened it is text, and so is what follows until the next one. */
  private noCall(): boolean {
    this.emit('text', this.opening);
    const bare = this.opening === '';
    this.opening = '';
    return this.go(bare ? 'plain' : 'text');
  }

  private readArguments(): boolean {
    const { length, state } = this.scanner.take(this.held);
    const text = this.consume(length);
    this.argumentsText += text;
    this.emit('arguments', text);
    if (state === 'open') return false;
    this.whole = state === 'ended' && parsed(this.argumentsText) !== undefined;
    this.scanner = new JsonObjectEnd(1);
    return this.go(state === 'ended' ? 'tail' : 'behind');
  }

  private tail(): boolean {
    const { length, state } = this.scanner.take(this.held);
    this.consume(length);
    return state === 'open' ? false : this.go('behind');
  }

  private behind(): boolean {
    const { form } = this.syntax.calls!;
    const close = form.close.trim();
    const text = this.held.trimStart();
    if (text === '') return false;
    if (text[0] === SEPARATORS[close])
      return this.endCall() && this.open(this.consume(this.held.length - text.length + 1));
    if (close === '' && text[0] === '{') return this.endCall() && this.open('');
    if (text.length < close.length && close.startsWith(text)) return false;
    return this.endCall();
  }

  /** Takes what closes it, where that is there. */
  private endCall(): boolean {
    this.pieces.push({ kind: 'call_end', whole: this.whole });
    const close = this.syntax.calls!.form.close.trim();
    const text = this.held.trimStart();
    if (close !== '' && text.startsWith(close)) this.held = text.slice(close.length);
    this.opening = '';
    this.trimming = true;
    return this.go(close === '' ? 'plain' : 'text');
  }

  private get inCall(): boolean {
    return this.state === 'arguments' || this.state === 'tail' || this.state === 'behind';
  }

  private get textState(): State {
    return this.syntax.calls === null ? 'plain' : 'text';
  }

  private go(state: State): true {
    this.state = state;
    return true;
  }

  private consume(length: number): string {
    const text = this.held.slice(0, length);
    this.held = this.held.slice(length);
    return text;
  }

  /** All but what may become a marker, and white space, which is dropped before one. */
  private emitSure(kind: 'text' | 'reasoning', markers: string[]): false {
    let sure = this.held.length - undecided(this.held, markers);
    while (sure > 0 && this.held[sure - 1]!.trim() === '') sure--;
    this.emit(kind, this.consume(sure));
    return false;
  }

  private emit(kind: 'reasoning' | 'text' | 'arguments', given: string): false {
    const text = this.trimming && kind !== 'arguments' ? given.trimStart() : given;
    if (text === '') return false;
    if (kind !== 'arguments') this.trimming = false;
    const last = this.pieces.at(-1);
    if (last?.kind === kind) last.text += text;
    else this.pieces.push({ kind, text });
    return false;
  }

  private taken(): OutputPiece[] {
    const { pieces } = this;
    this.pieces = [];
    return pieces;
  }
}

/** What a call is found by: lists are opened with a bracket that may have a space before it. */
function markerOf(open: string): string {
  return open.trim().replace(/(?<=\])\[$/, '');
}
