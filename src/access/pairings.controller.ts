import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { RequestOrigin, type Origin } from '../audit/index.js';
import {
  CurrentClient,
  meaningsOf,
  Pairings,
  PendingPairings,
  RequireScope,
  type Client,
  type PairingRecord,
  type ScopeMeanings,
} from '../clients/index.js';
import { bodyOf, listObject, listSchema, type ListObject } from '../http/index.js';
import { DescribeRoute, Tag } from '../openapi/index.js';
import { seconds } from './client-view.js';
import { ApprovePairingDto } from './dto/approve-pairing.dto.js';
import { PAIRING } from './pairing-schema.js';
import { WrongCodes } from './wrong-codes.js';

/** A program that waits for the owner's word, or has it. Times are unix seconds. */
export interface PairingObject {
  id: string;
  object: 'pairing';
  /** Null where the service was restarted since the program asked: then the owner types it. */
  user_code: string | null;
  client_name: string;
  /** The software's own name. */
  software: string;
  /** Asked for, then granted. */
  scopes: readonly string[];
  /** What those of them that extensions add let it do. */
  meanings: ScopeMeanings;
  status: string;
  address: string;
  token_expires_in: number | null;
  client_id: string | null;
  created_at: number;
  expires_at: number;
}

/** Pairing as the owner does it (WIRE B8 step 2). */
@Tag('Pairing')
@Controller('v1/pairings')
@RequireScope('clients:manage')
export class PairingsController {
  constructor(
    private readonly pairings: Pairings,
    private readonly pending: PendingPairings,
    private readonly codes: WrongCodes,
  ) {}

  /** Those that wait, oldest first. */
  @Get()
  @DescribeRoute({
    id: 'listPairings',
    summary: 'Lists the programs that wait to be paired',
    answers: { 200: { description: 'All of them', schema: listSchema(PAIRING) } },
  })
  async list(): Promise<ListObject<PairingObject>> {
    return listObject((await this.pending.list()).map(pairingToWire), false);
  }

  @Post(':user_code/approve')
  @HttpCode(200)
  @DescribeRoute({
    id: 'approvePairing',
    summary: 'Lets a program in',
    description: 'Privileged scopes are granted only where `scopes` names them; nobody grants more than it has.',
    body: bodyOf(ApprovePairingDto),
    bodyOptional: true,
    answers: { 200: { description: 'The pairing', schema: PAIRING } },
    errors: ['pairing_not_found', 'pairing_decided', 'storage_busy', 'storage_full'],
  })
  async approve(
    @CurrentClient() caller: Client,
    @Param('user_code') userCode: string,
    @Body() { scopes, name, token_expires_in: life }: ApprovePairingDto,
    @RequestOrigin() origin: Origin,
  ): Promise<PairingObject> {
    this.codes.countDecided(origin);
    const approval = {
      ...(scopes != null && { scopes }),
      ...(name != null && { name }),
      ...(life != null && { tokenExpiresIn: life }),
    };
    return pairingToWire(await this.pairings.approve(caller, userCode, approval, origin));
  }

  @Post(':user_code/deny')
  @HttpCode(200)
  @DescribeRoute({
    id: 'denyPairing',
    summary: 'Turns a program away',
    answers: { 200: { description: 'The pairing', schema: PAIRING } },
    errors: ['pairing_not_found', 'pairing_decided', 'storage_busy', 'storage_full'],
  })
  async deny(
    @CurrentClient() caller: Client,
    @Param('user_code') userCode: string,
    @RequestOrigin() origin: Origin,
  ): Promise<PairingObject> {
    this.codes.countDecided(origin);
    return pairingToWire(await this.pairings.deny(caller, userCode, origin));
  }
}

function pairingToWire(record: PairingRecord): PairingObject {
  return {
    id: record.id,
    object: 'pairing',
    user_code: record.userCode,
    client_name: record.clientName,
    software: record.software,
    scopes: record.scopes,
    meanings: meaningsOf(record.scopes),
    status: record.status,
    address: record.address,
    token_expires_in: record.tokenExpiresIn,
    client_id: record.clientId,
    created_at: seconds(record.createdAt),
    expires_at: seconds(record.expiresAt),
  };
}
