import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentClient, RequireScope, type Client } from '../clients/index.js';
import { bodyOf, disconnection } from '../http/index.js';
import type { Encoded } from '../inference/index.js';
import { DescribeRoute, Tag } from '../openapi/index.js';
import { CreateEmbeddingDto } from './dto/create-embedding.dto.js';
import { CreateRerankDto } from './dto/create-rerank.dto.js';
import { embeddingJson } from './embedding-json.js';
import { EMBEDDING_LIST, RERANKING } from './embedding-schema.js';
import { Encoders } from './encoders.js';
import { textsOf } from './encoding-input.js';
import { base64Of, checkDimensions, shortened } from './vectors.js';

const ERRORS = [
  'context_length_exceeded',
  'insufficient_resources',
  'model_error',
  'model_load_failed',
  'model_not_found',
  'model_unavailable',
  'queue_full',
  'server_shutting_down',
  'storage_busy',
  'storage_full',
  'task_timeout',
  'unsupported_parameter',
  'unsupported_value',
] as const;

/** POST /v1/embeddings and /v1/rerank (WIRE B2, B7). */
@Tag('Embeddings')
@Controller('v1')
export class EmbeddingsController {
  constructor(private readonly encoders: Encoders) {}

  @Post('embeddings')
  @HttpCode(200)
  @RequireScope('embeddings:write')
  @DescribeRoute({
    id: 'createEmbedding',
    summary: 'Turns texts into vectors',
    description: 'A text that is longer than the model takes in is refused, never cut. Nothing is stored.',
    body: bodyOf(CreateEmbeddingDto),
    answers: { 200: { description: 'One vector a text', schema: EMBEDDING_LIST } },
    errors: ERRORS,
  })
  async embed(
    @Body() dto: CreateEmbeddingDto,
    @CurrentClient() client: Client,
    @Res() response: Response,
  ): Promise<void> {
    const { model, dimensions = null } = dto;
    const result = await this.encoders.run(
      {
        ...textsOf('input', dto.input),
        type: 'embedding',
        model,
        clientId: client.id,
        keepAliveSeconds: dto.keep_alive_seconds,
        check: (found) => checkDimensions(dimensions, found),
      },
      disconnection(response),
    );
    if (result === null) return;
    const { modelId, encoded, info } = result;
    const written = dto.encoding_format === 'base64' ? base64Of : (vector: Float32Array) => [...vector];
    const vectors = encoded.map(({ values }) => shortened(values, dimensions, info));
    const data = await embeddingJson(vectors, written);
    const rest = JSON.stringify({ object: 'list', model: modelId, usage: usageOf(encoded) });
    response.type('json').send(`{"data":${data},${rest.slice(1)}`);
  }

  @Post('rerank')
  @HttpCode(200)
  @RequireScope('embeddings:write')
  @DescribeRoute({
    id: 'createRerank',
    summary: 'Orders documents by how well they answer a question',
    description:
      "The score is the sigmoid of the model's own. A document that is with the question longer than the model takes in " +
      'is refused, never cut. Nothing is stored.',
    body: bodyOf(CreateRerankDto),
    answers: { 200: { description: 'Documents by index, the best first', schema: RERANKING } },
    errors: ERRORS,
  })
  async rerank(
    @Body() { model, query, documents, top_n: most, keep_alive_seconds: keepAliveSeconds }: CreateRerankDto,
    @CurrentClient() client: Client,
    @Res() response: Response,
  ): Promise<void> {
    const result = await this.encoders.run(
      { ...textsOf('documents', documents), type: 'rerank', model, query, clientId: client.id, keepAliveSeconds },
      disconnection(response),
    );
    if (result === null) return;
    const { modelId, encoded } = result;
    const scored = encoded.map(({ values }, index) => ({ index, relevance_score: sigmoid(values[0]!) }));
    // Equal ones stay in the order of the documents.
    const results = scored.sort((a, b) => b.relevance_score - a.relevance_score).slice(0, most ?? undefined);
    response.json({ model: modelId, results, usage: usageOf(encoded) });
  }
}

function sigmoid(value: number): number {
  return 1 / (1 + Math.exp(-value));
}

function usageOf(encoded: readonly Encoded[]): { prompt_tokens: number; total_tokens: number } {
  const tokens = encoded.reduce((sum, each) => sum + each.tokens, 0);
  return { prompt_tokens: tokens, total_tokens: tokens };
}
