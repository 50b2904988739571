import type { Readable } from 'node:stream';

const MAX_LINES = 50;
const MAX_LINE_LENGTH = 300;

/**
 * Reads what a runner prints (the runtime's complaints, a crash's last words) as lines with a bound on length and
 * number; the pipe is drained to its end either way, so that a chatty runner never blocks on it.
 */
export function readOutput(stream: Readable, line: (text: string) => void): void {
  let rest = '';
  let lines = 0;
  const put = (text: string): void => {
    if (text.trim() === '' || lines > MAX_LINES) return;
    line(lines++ < MAX_LINES ? text.slice(0, MAX_LINE_LENGTH) : 'more output is dropped');
  };
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop()!.slice(0, MAX_LINE_LENGTH);
    parts.forEach(put);
  });
  stream.on('end', () => put(rest));
  stream.on('error', () => undefined);
}
