import { DomainError } from '../errors/index.js';
import type { ConstrainedFunction, JsonConstraint, OutputConstraint, ToolCallForm } from '../inference/index.js';
import type { CreateResponseDto } from './dto/create-response.dto.js';
import type { FunctionToolDto } from './dto/function-tool.dto.js';
import type { CallSyntax } from './output-syntax.js';

const MOST_TOOLS = 128;
const LARGEST_SCHEMA = 65_536;
const DEEPEST_SCHEMA = 32;

/** A function as the response shows it. */
export interface FunctionTool {
  type: 'function';
  name: string;
  description: string | null;
  parameters: Record<string, unknown> | null;
  strict: boolean;
}

interface NamedFunction {
  type: 'function';
  name: string;
}

export type ToolChoice =
  | 'none'
  | 'auto'
  | 'required'
  | NamedFunction
  | { type: 'allowed_tools'; mode: 'auto' | 'required'; tools: NamedFunction[] };

/** What a request lets its model call. */
export interface ToolUse {
  /** As the response shows them. */
  tools: FunctionTool[];
  choice: ToolChoice;
  /** Those that may be called. */
  functions: FunctionTool[];
  /** There must be a call. */
  required: boolean;
  /** Calls at most. */
  most: number | null;
}

type ToolFields = Pick<CreateResponseDto, 'tools' | 'tool_choice' | 'parallel_tool_calls' | 'max_tool_calls'>;

/** Throws invalid_value, invalid_type or unsupported_value naming what is wrong of tools and tool_choice. */
export function toolUseOf({ tools: given, tool_choice, parallel_tool_calls, max_tool_calls }: ToolFields): ToolUse {
  const tools = functionTools(given ?? []);
  const choice = toolChoiceOf(tool_choice, new Set(tools.map(({ name }) => name)));
  const names = chosenNames(choice);
  const functions = tools.filter(({ name }) => names === null || names.includes(name));
  const required = choice === 'required' || (typeof choice === 'object' && !isAuto(choice));
  if (required && functions.length === 0) throw refused('tool_choice', 'demands a call, and there is no tool');
  const most = parallel_tool_calls === false ? 1 : (max_tool_calls ?? null);
  return { tools, choice, functions, required, most };
}

/** Functions as chat templates expect them; null: none. */
export function templateTools({ functions }: ToolUse): object[] | null {
  if (functions.length === 0) return null;
  return functions.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, ...(description !== null && { description }), parameters: parameters ?? NO_PARAMETERS },
  }));
}

export function callSyntaxOf({ functions, most }: ToolUse, form: ToolCallForm): CallSyntax | null {
  return functions.length === 0 ? null : { form, names: functions.map(({ name }) => name), most };
}

/** What the output is held to: calls where there must be one, and calls as a strict function wants them. */
export function callConstraint(
  { functions, required, most }: ToolUse,
  form: ToolCallForm,
  otherwise: JsonConstraint | null,
): OutputConstraint | null {
  if (functions.length === 0) return null;
  if (!required && !otherwise && !functions.some(({ strict }) => strict)) return null;
  const constrained = functions.map(({ name, parameters }): ConstrainedFunction => ({ name, parameters }));
  const calls = { kind: 'tool_calls', form, functions: constrained, required, parallel: most !== 1 } as const;
  return otherwise && !required ? { ...calls, otherwise } : calls;
}

const NO_PARAMETERS = { type: 'object', properties: {} };

function functionTools(given: readonly FunctionToolDto[]): FunctionTool[] {
  if (given.length > MOST_TOOLS) throw refused('tools', `may have at most ${MOST_TOOLS} elements`);
  const names = new Set<string>();
  return given.map(({ name, description, parameters, strict }, index) => {
    if (names.has(name)) throw refused(`tools[${index}].name`, 'is the name of another tool');
    names.add(name);
    requireReasonable(parameters ?? {}, `tools[${index}].parameters`);
    return {
      type: 'function',
      name,
      description: description ?? null,
      parameters: parameters ?? null,
      strict: strict ?? false,
    };
  });
}

function requireReasonable(schema: object, param: string): void {
  if (JSON.stringify(schema).length > LARGEST_SCHEMA) {
    throw refused(param, `may have at most ${LARGEST_SCHEMA} characters`);
  }
  if (depthOf(schema) > DEEPEST_SCHEMA) throw refused(param, `may be nested ${DEEPEST_SCHEMA} deep at most`);
}

/** The body's own depth is bounded. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Object.values(value).reduce((most: number, item) => Math.max(most, depthOf(item)), 0);
}

function toolChoiceOf(given: unknown, names: ReadonlySet<string>): ToolChoice {
  if (given === null || given === undefined) return 'auto';
  if (typeof given === 'string') {
    if (given === 'none' || given === 'auto' || given === 'required') return given;
    throw refused('tool_choice', 'must be none, auto, required or an object');
  }
  const { type, mode, tools } = given as Record<string, unknown>;
  if (type === 'function') return namedFunction(given, names, 'tool_choice');
  if (type !== 'allowed_tools') throw unsupported('tool_choice.type');
  if (mode !== 'auto' && mode !== 'required') throw refused('tool_choice.mode', 'must be auto or required');
  if (!Array.isArray(tools) || tools.length === 0) throw refused('tool_choice.tools', 'must name tools');
  const allowed = tools.map((each, index) => namedFunction(each, names, `tool_choice.tools[${index}]`));
  return { type, mode, tools: allowed };
}

function namedFunction(given: unknown, names: ReadonlySet<string>, param: string): NamedFunction {
  const { type, name } = (given ?? {}) as Record<string, unknown>;
  if (type !== 'function') throw unsupported(`${param}.type`);
  if (typeof name !== 'string' || !names.has(name))
    throw refused(`${param}.name`, 'must be the name of one of the tools');
  return { type, name };
}

/** Null: all of them. */
function chosenNames(choice: ToolChoice): string[] | null {
  if (choice === 'none') return [];
  if (typeof choice === 'string') return null;
  return choice.type === 'function' ? [choice.name] : choice.tools.map(({ name }) => name);
}

function isAuto(choice: Exclude<ToolChoice, string>): boolean {
  return choice.type === 'allowed_tools' && choice.mode === 'auto';
}

function refused(param: string, rule: string): DomainError {
  return new DomainError('invalid_value', `'${param}' ${rule}.`, { param });
}

function unsupported(param: string): DomainError {
  return new DomainError('unsupported_value', `'${param}' is no type that is supported.`, { param });
}
