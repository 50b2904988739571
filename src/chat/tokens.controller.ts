import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { RequireScope } from '../clients/index.js';
import { DomainError } from '../errors/index.js';
import { bodyOf } from '../http/index.js';
import { PROMPT_CODEC, type PromptCodec } from '../inference/index.js';
import { ModelCatalogue, type ModelRecord } from '../models/index.js';
import { DescribeRoute, integer, listOf, named, object, Tag, text } from '../openapi/index.js';
import { DetokenizeDto, TokenizeDto } from './dto/tokens.dto.js';
import { FieldNames } from './field-names.js';

const TOKENS = named('Tokens', object({ tokens: listOf(integer()) }));
const DETOKENIZED = named('DetokenizedText', object({ text: text('Special tokens are spelt out') }));

const ERRORS = [
  'context_length_exceeded',
  'model_load_failed',
  'model_not_found',
  'model_unavailable',
  'queue_full',
  'server_shutting_down',
] as const;

const NAMES = new FieldNames({ input: 'text' });

/** POST /v1/tokenize and /v1/detokenize (WIRE B2): no model is loaded for them. */
@Tag('Completions')
@Controller('v1')
export class TokensController {
  constructor(
    private readonly catalogue: ModelCatalogue,
    @Inject(PROMPT_CODEC) private readonly codec: PromptCodec,
  ) {}

  @Post('tokenize')
  @HttpCode(200)
  @RequireScope('responses:write')
  @DescribeRoute({
    id: 'tokenize',
    summary: "Turns a text into a model's tokens",
    description: 'A long text that is certainly beyond the context of the model is refused.',
    body: bodyOf(TokenizeDto),
    answers: { 200: { description: 'The ids', schema: TOKENS } },
    errors: ERRORS,
  })
  async tokenize(@Body() { model, text }: TokenizeDto): Promise<{ tokens: number[] }> {
    const { directory, contextLength } = await this.usable(model);
    try {
      const room = contextLength === null ? {} : { mostTokens: contextLength };
      return { tokens: await this.codec.encodeText(directory, text, room) };
    } catch (error) {
      throw error instanceof DomainError ? NAMES.inTheirs(error) : error;
    }
  }

  @Post('detokenize')
  @HttpCode(200)
  @RequireScope('responses:write')
  @DescribeRoute({
    id: 'detokenize',
    summary: "Turns a model's tokens into the text they stand for",
    body: bodyOf(DetokenizeDto),
    answers: { 200: { description: 'The text', schema: DETOKENIZED } },
    errors: ERRORS,
  })
  async detokenize(@Body() { model, tokens }: DetokenizeDto): Promise<{ text: string }> {
    const { directory } = await this.usable(model);
    return { text: await this.codec.decode(directory, numbersOf(tokens)) };
  }

  private async usable(name: string): Promise<ModelRecord> {
    const { type } = await this.catalogue.get(name);
    return this.catalogue.usable(name, type);
  }
}

function numbersOf(tokens: readonly unknown[]): number[] {
  return tokens.map((token, index) => {
    if (typeof token === 'number') return token;
    const param = `tokens[${index}]`;
    throw new DomainError('invalid_type', `'${param}' must be an integer.`, { param });
  });
}
