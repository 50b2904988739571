import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentClient, RequireScope, type Client } from '../clients/index.js';
import { CreateResponseDto } from './dto/create-response.dto.js';
import { ResponseCreation } from './response-creation.js';
import { ResponseRequests } from './response-requests.js';

/** POST /v1/responses (WIRE B3). */
@Controller('v1/responses')
export class CreateResponseController {
  constructor(
    private readonly requests: ResponseRequests,
    private readonly creation: ResponseCreation,
  ) {}

  @Post()
  @HttpCode(200)
  @RequireScope('responses:write')
  async create(
    @Body() dto: CreateResponseDto,
    @CurrentClient() client: Client,
    @Res() response: Response,
  ): Promise<void> {
    const draft = await this.requests.prepare(dto, client.id);
    if (dto.stream) await this.creation.stream(draft, response);
    else await this.creation.answer(draft, response);
  }
}
