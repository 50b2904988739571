import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentClient, RequireScope, type Client } from '../clients/index.js';
import { Idempotent, Keyed, type KeyedRequest } from '../http/index.js';
import { CreateResponseDto } from './dto/create-response.dto.js';
import { EphemeralCreation } from './ephemeral-creation.js';
import { ResponseRepeats } from './response-repeats.js';
import { ResponseRequests } from './response-requests.js';
import { StoredCreation } from './stored-creation.js';

/** POST /v1/responses (WIRE B3). */
@Controller('v1/responses')
export class CreateResponseController {
  constructor(
    private readonly requests: ResponseRequests,
    private readonly stored: StoredCreation,
    private readonly ephemeral: EphemeralCreation,
  ) {}

  @Post()
  @HttpCode(200)
  @RequireScope('responses:write')
  @Idempotent(ResponseRepeats)
  async create(
    @Body() dto: CreateResponseDto,
    @CurrentClient() client: Client,
    @Keyed() keyed: KeyedRequest | null,
    @Res() response: Response,
  ): Promise<void> {
    const draft = await this.requests.prepare(dto, client.id, keyed);
    const creation = draft.body.store ? this.stored : this.ephemeral;
    if (dto.stream) await creation.stream(draft, response);
    else await creation.answer(draft, response);
  }
}
