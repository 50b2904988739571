/**
 * What an output may be, as a pure function of the tokens before. End tokens come only where the output is whole.
 * `json`: one JSON value, by the schema if there is one. `tool_calls`: calls in the form that `ToolCallForm` says and
 * nothing else (`required`), or text that may have calls in it; with `otherwise`, calls or what that says.
 */
export type OutputConstraint =
  | JsonConstraint
  | {
      kind: 'tool_calls';
      form: ToolCallForm;
      functions: ConstrainedFunction[];
      required: boolean;
      parallel: boolean;
      otherwise?: JsonConstraint;
    };

export interface JsonConstraint {
  kind: 'json';
  schema: Record<string, unknown> | null;
}

export interface ConstrainedFunction {
  name: string;
  /** JSON schema of the arguments; null: any object. */
  parameters: Record<string, unknown> | null;
}

/** How a model writes a call: `open` + `{"name": …, "arguments": {…}}` + `close`, where `argumentsKey` names the second. */
export interface ToolCallForm {
  open: string;
  close: string;
  argumentsKey: 'arguments' | 'parameters';
}
