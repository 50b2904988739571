import { DomainError } from '../errors/index.js';
import type { ChatSyntax, OutputConstraint } from '../inference/index.js';
import type { CreateResponseDto } from './dto/create-response.dto.js';
import { formatConstraint, outputFormat } from './output-format.js';
import { REASONING_CLOSE, REASONING_OPEN } from './output-syntax.js';
import type { GenerationRecord } from './response-object.js';
import { callConstraint, callSyntaxOf, type ToolUse } from './tool-use.js';

/** What an output is held to, and where in the request its schemas stand. */
export interface HeldOutput {
  constraint: OutputConstraint;
  places: string[];
}

/**
 * Null: nothing. Calls go before a format, which only text has. Throws unsupported_value for a format where the model is
 * free to call as well: an output is held to one of them.
 */
export function outputConstraint(
  dto: Pick<CreateResponseDto, 'text'>,
  tools: ToolUse,
  syntax: ChatSyntax | null,
): HeldOutput | null {
  const format = formatConstraint(outputFormat(dto));
  if (format && tools.functions.length > 0 && !tools.required) {
    const message = "'text.format' cannot be asked for where calls are optional; set tool_choice to none or required.";
    throw new DomainError('unsupported_value', message, { param: 'text.format' });
  }
  const constraint = syntax && callConstraint(tools, syntax.calls);
  if (constraint) return { constraint, places: tools.functions.map(({ name }) => placeOf(name, tools)) };
  return format && { constraint: format.constraint, places: [format.place] };
}

/** How the text becomes items. */
export function outputReading(tools: ToolUse, syntax: ChatSyntax | null): Partial<GenerationRecord> {
  if (syntax === null) return {};
  const { calls: form, reasoning } = syntax;
  const calls = callSyntaxOf(tools, form);
  if (calls === null && reasoning === null) return {};
  const open = form.open.trim();
  const markers = [
    ...(calls ? [open, open.replace(/\[$/, ''), form.close.trim()] : []),
    ...(reasoning ? [REASONING_OPEN, REASONING_CLOSE] : []),
  ];
  return { syntax: { reasoning, calls }, shownTokens: markers };
}

function placeOf(name: string, { tools }: ToolUse): string {
  return `tools[${tools.findIndex((tool) => tool.name === name)}].parameters`;
}
