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
  /** Places whose schema is a wish: where it cannot be enforced, any object is taken. */
  wished: string[];
}

/** Null: nothing. A format is what the answer is held to where it calls no function. */
export function outputConstraint(
  dto: Pick<CreateResponseDto, 'text'>,
  tools: ToolUse,
  syntax: ChatSyntax | null,
): HeldOutput | null {
  const format = formatConstraint(outputFormat(dto));
  const constraint = syntax && callConstraint(tools, syntax.calls, format?.constraint ?? null);
  if (!constraint) return format && { constraint: format.constraint, places: [format.place], wished: [] };
  const places = tools.functions.map(({ name }) => placeOf(name, tools));
  const wished = places.filter((_, i) => tools.functions[i]?.strict !== true);
  return { constraint, places: format ? [...places, format.place] : places, wished };
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
