import type { JsonConstraint } from '../inference/index.js';
import type { CreateResponseDto } from './dto/create-response.dto.js';

/** What an answer must be, as `text.format` says and the response echoes it. */
export type OutputFormat =
  | { type: 'text' }
  | { type: 'json_object' }
  | {
      type: 'json_schema';
      name: string;
      description: string | null;
      schema: Record<string, unknown>;
      strict: boolean;
    };

export function outputFormat({ text }: Pick<CreateResponseDto, 'text'>): OutputFormat {
  const format = text?.format;
  if (format?.type === 'json_object') return { type: 'json_object' };
  if (format?.type !== 'json_schema') return { type: 'text' };
  const { name = '', description = null, schema = {}, strict } = format;
  return { type: 'json_schema', name, description, schema, strict: strict ?? true };
}

/** What the engine is to hold the answer to, and where its sender has written it; null: nothing. */
export function formatConstraint(format: OutputFormat): { constraint: JsonConstraint; place: string } | null {
  switch (format.type) {
    case 'text':
      return null;
    case 'json_object':
      return { constraint: { kind: 'json', schema: null }, place: 'text.format' };
    case 'json_schema':
      return { constraint: { kind: 'json', schema: format.schema }, place: 'text.format.schema' };
  }
}
