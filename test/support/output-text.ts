import type { OutputItem } from '../../src/responses/response-object.js';

/** The text of a response's messages. */
export function outputText({ output }: { output: readonly OutputItem[] }): string {
  const messages = output.filter((item) => item.type === 'message');
  return messages.flatMap(({ content }) => content.map(({ text }) => text)).join('');
}
