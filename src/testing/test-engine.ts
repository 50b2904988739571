import type { ChatMessage, GenerationRequest, PromptCodec } from '../inference/index.js';
import { FakeEngine, type Piece } from './fake-engine.js';
import { inlineCodec } from './inline-codec.js';

/** What a model was asked. */
export interface Prompt {
  /** As they go into the model's template. */
  readonly messages: readonly ChatMessage[];
  /** The last thing that a user says in them. */
  readonly text: string;
}

/** Answers that may be long have many different words. */
const VOCABULARY_SIZE = 16_384;

/**
 * A model double that answers what a test says, word by word; without a word from the test it says what the user said last. A
 * generation that a crash or a cancel cut off says the same when it is asked for again.
 *
 * `hold('steps')` stops between two words and `release('steps')` goes on; `hold('loads')` keeps models from being loaded;
 * `killAll()` is the death of every model process.
 */
export class TestEngine extends FakeEngine {
  /** Every prompt so far, oldest first. */
  readonly prompts: Prompt[] = [];
  /** The service's own templates and tokenizer, by which prompts are known again. */
  readonly codec: PromptCodec = { ...inlineCodec, encodeChat: (...call) => this.encodeChat(...call) };
  private readonly known = new Map<string, Prompt>();
  /** Answers by prompt; one that nobody read to its end is given again. */
  private readonly given = new Map<string, { text: string; finished: boolean }>();
  private readonly next: string[] = [];
  private answer: (prompt: Prompt) => string = ({ text }) => text;

  constructor() {
    super({ vocabularySize: VOCABULARY_SIZE, tokens: (request) => this.tokensOf(request) });
  }

  /** What the next generations say, in their order. Those after them are answered as before. */
  answers(...texts: string[]): void {
    this.next.push(...texts);
  }

  /** What every generation says from now on for which `answers` says nothing. */
  answerWith(answer: (prompt: Prompt) => string): void {
    this.answer = answer;
  }

  private tokensOf(request: GenerationRequest): Iterable<Piece> {
    const key = request.promptIds.join();
    const prompt = this.known.get(key) ?? { messages: [], text: '' };
    this.prompts.push(prompt);
    const before = this.given.get(key);
    const isRepeat = before !== undefined && (request.replay !== undefined || !before.finished);
    const answer = isRepeat ? before : { text: this.next.shift() ?? this.answer(prompt), finished: false };
    this.given.set(key, answer);
    return wordsOf(answer);
  }

  private async encodeChat(...call: Parameters<PromptCodec['encodeChat']>): ReturnType<PromptCodec['encodeChat']> {
    const encoded = await inlineCodec.encodeChat(...call);
    const [, messages] = call;
    const text = messages.filter(({ role }) => role === 'user').at(-1)?.content ?? '';
    this.known.set(encoded.ids.join(), { messages, text });
    return encoded;
  }
}

function* wordsOf(answer: { text: string; finished: boolean }): Iterable<Piece> {
  yield* answer.text.match(/\s*\S+(?:\s+$)?/g) ?? [];
  answer.finished = true;
}
