import type { ToolCallForm } from '../output-constraint.js';
import type { ChatSyntax } from '../prompt-codec.js';

interface KnownForm {
  /** What a template has in it whose model writes calls so. */
  inTemplate: RegExp;
  form(template: string): ToolCallForm;
}

/** In a template a line break is written as such or escaped. */
const BROKEN_LINE = /<tool_call>(?:\n|\\n)/;

/** The forms of calls that are known, by what their templates have in them; the first that fits is taken. */
const FORMS: readonly KnownForm[] = [
  {
    // Hermes, Qwen, SmolLM3, and models that nothing is known of.
    inTemplate: /<tool_call>/,
    form: (template) => {
      const between = BROKEN_LINE.test(template) ? '\n' : '';
      return { open: `<tool_call>${between}`, close: `${between}</tool_call>`, argumentsKey: 'arguments' };
    },
  },
  {
    // Mistral.
    inTemplate: /\[TOOL_CALLS\]/,
    form: () => ({ open: '[TOOL_CALLS][', close: ']', argumentsKey: 'arguments' }),
  },
  {
    // Llama 3.
    inTemplate: /\{"name": function name, "parameters": /,
    form: () => ({ open: '', close: '', argumentsKey: 'parameters' }),
  },
];

/** What the answers of a model look like, as its chat template tells; `knowsTools`: the template lists functions itself. */
export function chatSyntaxOf(template: string): { syntax: ChatSyntax; knowsTools: boolean } {
  const known = FORMS.find(({ inTemplate }) => inTemplate.test(template));
  const calls = (known ?? FORMS[0]!).form(known ? template : '<tool_call>\n');
  const reasoning = /<\/?think>/.test(template) ? 'possible' : null;
  return { syntax: { calls, reasoning }, knowsTools: known !== undefined && /\btools\b/.test(template) };
}

/** The prompt ends inside of the reasoning. */
export function opensReasoning(prompt: string): boolean {
  return prompt.trimEnd().endsWith('<think>');
}
