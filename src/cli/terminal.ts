import pc from 'picocolors';
import type { Environment } from './environment.js';
import { plainJson, plainText, withoutTokens } from './terminal-text.js';

export const FORMATS = ['table', 'json', 'jsonl', 'none'] as const;
export type Format = (typeof FORMATS)[number];

export const COLOR_MODES = ['auto', 'always', 'never'] as const;
export type ColorMode = (typeof COLOR_MODES)[number];

type Stream = Pick<NodeJS.WriteStream, 'write' | 'isTTY'>;

export interface TerminalOptions {
  format: Format;
  /** Ids only. */
  quiet: boolean;
  color: ColorMode;
}

/** Where output goes: data to standard output, everything else to standard error (OPERATE 1.2). */
export class Terminal {
  readonly colors: ReturnType<typeof pc.createColors>;
  readonly noteColors: ReturnType<typeof pc.createColors>;

  constructor(
    readonly options: TerminalOptions,
    environment: Pick<Environment, 'noColor' | 'forceColor'>,
    private readonly stdout: Stream = process.stdout,
    private readonly stderr: Stream = process.stderr,
  ) {
    this.colors = pc.createColors(hasColor(stdout, options.color, environment));
    this.noteColors = pc.createColors(hasColor(stderr, options.color, environment));
  }

  get format(): Format {
    return this.options.format;
  }

  get isInteractive(): boolean {
    return this.stdout.isTTY === true;
  }

  /** Data that others wrote, such as a model's words: a terminal sees them without control sequences, a pipe as they are. */
  text(text: string): void {
    if (this.options.format === 'none') return;
    this.stdout.write(this.isInteractive ? plainText(text) : text);
  }

  /** A line of our own making: a row of a table, an id. */
  line(text: string): void {
    if (this.options.format !== 'none') this.stdout.write(`${text}\n`);
  }

  /** A value of the API, as it came: over several lines for `json`, on one for `jsonl`. */
  json(value: unknown): void {
    this.rawJson(JSON.stringify(value, null, this.options.format === 'jsonl' ? 0 : 2));
  }

  rawJson(json: string): void {
    this.stdout.write(`${this.isInteractive ? plainJson(json) : json}\n`);
  }

  /** Progress, a hint, a warning: one line on standard error. */
  note(text: string): void {
    this.stderr.write(`${withoutTokens(text)}\n`);
  }

  /** As `note`, less loud. */
  aside(text: string): void {
    this.note(this.noteColors.dim(text));
  }
}

function hasColor(stream: Stream, mode: ColorMode, environment: Pick<Environment, 'noColor' | 'forceColor'>): boolean {
  if (mode !== 'auto') return mode === 'always';
  if (environment.noColor) return false;
  return environment.forceColor || stream.isTTY === true;
}
