import type { ChatMessage } from '../prompt-codec.js';
import type { ClientTexts } from './control-tokens.js';

/** What a model whose template knows nothing of functions is told of them. */
function instruction(tools: readonly object[]): string {
  const described = tools.map((tool) => JSON.stringify('function' in tool ? tool.function : tool)).join('\n');
  return (
    `You can call functions. Each line describes one, its parameters as a JSON schema:\n${described}\n` +
    'To call a function, answer with nothing but this, once for each call:\n' +
    '<tool_call>\n{"name": "the name of the function", "arguments": {"parameter": "value"}}\n</tool_call>\n' +
    'You then get what it returns. Answer without a call where none is needed.'
  );
}

/** The same conversation without anything that only templates with functions understand. */
export function toldInText({ messages, tools = [] }: ClientTexts): ClientTexts {
  const told = messages.map(inText);
  if (tools.length === 0) return { messages: told };
  const [first, ...others] = told;
  const text = instruction(tools);
  if (first?.role !== 'system') return { messages: [{ role: 'system', content: text }, ...told] };
  return { messages: [{ role: 'system', content: `${first.content}\n\n${text}` }, ...others] };
}

function inText({ role, content, tool_calls: calls = [] }: ChatMessage): ChatMessage {
  if (role === 'tool') return { role: 'user', content: `<tool_response>\n${content}\n</tool_response>` };
  const written = calls.map(
    ({ function: { name, arguments: given } }) =>
      `<tool_call>\n${JSON.stringify({ name, arguments: given })}\n</tool_call>`,
  );
  return {
    role,
    content: [content, ...written].filter((text, index) => index > 0 || text !== '' || written.length === 0).join('\n'),
  };
}
