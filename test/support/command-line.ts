import { spawn, type ChildProcess } from 'node:child_process';
import { distEntry } from './dist-entry.js';
import { waitFor } from './wait-for.js';

export interface CommandOptions {
  dataDir: string;
  env?: Record<string, string>;
  /** Standard input; empty by default. */
  input?: string;
}

/** Nothing listens there. */
const NO_SERVICE = { LMSP_PORT: '2' };

/** One `lmsp …` as a process of its own, without a terminal. */
export class CommandLine {
  stdout = '';
  stderr = '';
  readonly ended: Promise<number | null>;

  private constructor(readonly child: ChildProcess) {
    child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.ended = new Promise((resolve) => child.once('close', (code) => resolve(code)));
  }

  static start(parameters: string[], { dataDir, env = {}, input = '' }: CommandOptions): CommandLine {
    const kept = Object.entries(process.env).filter(([name]) => !/^(LMSP_|NO_COLOR|FORCE_COLOR)/.test(name));
    const child = spawn(process.execPath, [distEntry('cli/main.js'), ...parameters], {
      env: { ...Object.fromEntries(kept), ...NO_SERVICE, LMSP_DATA_DIR: dataDir, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
    return new CommandLine(child);
  }

  /** To its end. */
  static async run(parameters: string[], options: CommandOptions): Promise<CommandResult> {
    const command = CommandLine.start(parameters, options);
    const code = await command.ended;
    return { code, stdout: command.stdout, stderr: command.stderr };
  }

  /** Resolves once standard error holds the text. */
  async noted(text: string): Promise<void> {
    await waitFor(`${text} on standard error`, () => this.stderr.includes(text));
  }

  /** Resolves once standard output holds the text. */
  async printed(text: string | RegExp): Promise<void> {
    await waitFor(`${String(text)} on standard output`, () => this.stdout.search(text) >= 0);
  }
}

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}
