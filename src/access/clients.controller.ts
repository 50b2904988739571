import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { RequestOrigin, type Origin } from '../audit/index.js';
import {
  AnyClient,
  ClientRegistry,
  ClientRevocation,
  CurrentClient,
  RequireScope,
  RequireScopeOrOwn,
  TokenRotation,
  type Client,
} from '../clients/index.js';
import type { Tx } from '../database/index.js';
import {
  bodyOf,
  Idempotent,
  Keyed,
  listObject,
  listSchema,
  pageFields,
  QueryFields,
  type KeyedRequest,
  type ListObject,
  type QueryOf,
} from '../http/index.js';
import { deletedObject, DescribeRoute, Tag } from '../openapi/index.js';
import { IdempotencyKeys } from '../tasks/index.js';
import { CLIENT, ISSUED_CLIENT } from './access-schema.js';
import { RotationRepeats } from './rotation-repeats.js';
import { clientToWire, issuedToWire, type ClientObject } from './client-view.js';
import { ChangeClientDto } from './dto/change-client.dto.js';
import { CreateClientDto } from './dto/create-client.dto.js';
import { RotateClientDto } from './dto/rotate-client.dto.js';

const LIST_FIELDS = pageFields('client', { fallback: 100 });
const LIST_QUERY = new QueryFields(LIST_FIELDS);

/** Clients as the owner manages them (WIRE B2, B8). A client sees, rotates and revokes itself without a scope. */
@Tag('Clients')
@Controller('v1/clients')
export class ClientsController {
  constructor(
    private readonly clients: ClientRegistry,
    private readonly rotation: TokenRotation,
    private readonly revocation: ClientRevocation,
    private readonly keys: IdempotencyKeys,
  ) {}

  @Get()
  @RequireScope('clients:manage')
  @DescribeRoute({
    id: 'listClients',
    summary: 'Lists the clients, revoked ones included',
    query: LIST_QUERY.schemas,
    answers: { 200: { description: 'One page', schema: listSchema(CLIENT) } },
    errors: ['invalid_value'],
  })
  async list(@Query(LIST_QUERY) query: QueryOf<typeof LIST_FIELDS>): Promise<ListObject<ClientObject>> {
    const { clients, hasMore } = await this.clients.page(query);
    return listObject(clients.map(clientToWire), hasMore);
  }

  /** A client without a pairing: 201 with its token, once. */
  @Post()
  @RequireScope('clients:manage')
  @DescribeRoute({
    id: 'createClient',
    summary: 'Makes a client without a pairing, and its token',
    body: bodyOf(CreateClientDto),
    answers: { 201: { description: 'The client, with its token', schema: ISSUED_CLIENT } },
    errors: ['storage_busy', 'storage_full'],
  })
  async create(
    @CurrentClient() caller: Client,
    @Body() { name, scopes, expires_in: life }: CreateClientDto,
    @RequestOrigin() origin: Origin,
  ): Promise<ClientObject & { token: string }> {
    const draft = { name, scopes, lifeSeconds: life ?? null };
    return issuedToWire(await this.clients.create(caller, draft, origin));
  }

  @Get('me')
  @AnyClient()
  @DescribeRoute({
    id: 'getOwnClient',
    summary: 'Tells who you are',
    answers: { 200: { description: 'The client of the token', schema: CLIENT } },
  })
  async me(@CurrentClient() { id }: Client): Promise<ClientObject> {
    return clientToWire(await this.clients.get(id));
  }

  @Get(':id')
  @RequireScopeOrOwn('clients:manage', 'id')
  @DescribeRoute({
    id: 'getClient',
    summary: 'Reads a client; its own needs no scope',
    answers: { 200: { description: 'The client', schema: CLIENT } },
    errors: ['client_not_found'],
  })
  async read(@Param('id') id: string): Promise<ClientObject> {
    return clientToWire(await this.clients.get(id));
  }

  @Patch(':id')
  @RequireScope('clients:manage')
  @DescribeRoute({
    id: 'changeClient',
    summary: 'Renames a client or changes its scopes',
    description: 'Only where its old and its new scopes are among your own.',
    body: bodyOf(ChangeClientDto),
    answers: { 200: { description: 'The client', schema: CLIENT } },
    errors: ['client_not_found', 'last_owner', 'storage_busy', 'storage_full'],
  })
  async change(
    @CurrentClient() caller: Client,
    @Param('id') id: string,
    @Body() { name, scopes }: ChangeClientDto,
    @RequestOrigin() origin: Origin,
  ): Promise<ClientObject> {
    const change = { ...(name != null && { name }), ...(scopes != null && { scopes }) };
    return clientToWire(await this.clients.change(caller, id, change, origin));
  }

  @Delete(':id')
  @RequireScopeOrOwn('clients:manage', 'id')
  @DescribeRoute({
    id: 'revokeClient',
    summary: 'Revokes a client: its token, its streams and its unfinished work end',
    answers: { 200: { description: 'It is revoked', schema: deletedObject('client') } },
    errors: ['client_not_found', 'last_owner', 'storage_busy', 'storage_full'],
  })
  async revoke(
    @Param('id') id: string,
    @RequestOrigin() origin: Origin,
  ): Promise<{ id: string; object: 'client'; deleted: true }> {
    await this.revocation.revoke(id, origin);
    return { id, object: 'client', deleted: true };
  }

  @Post(':id/rotate')
  @HttpCode(200)
  @RequireScopeOrOwn('clients:manage', 'id')
  @Idempotent(RotationRepeats)
  @DescribeRoute({
    id: 'rotateToken',
    summary: 'Gives a client a new token',
    description:
      "A client's old token is good until the new one is first used, at most 10 minutes. Rotated by another, it ends " +
      'at once or after `grace_seconds`.',
    body: bodyOf(RotateClientDto),
    bodyOptional: true,
    headers: { 'Idempotency-Key': 'A repeat is refused with 409: the token is shown once' },
    answers: { 200: { description: 'The client, with its new token', schema: ISSUED_CLIENT } },
    errors: [
      'client_not_found',
      'idempotency_key_reused',
      'idempotency_not_replayable',
      'invalid_idempotency_key',
      'storage_busy',
      'storage_full',
      'unsupported_value',
    ],
  })
  async rotate(
    @CurrentClient() caller: Client,
    @Param('id') id: string,
    @Body() { grace_seconds: grace }: RotateClientDto,
    @RequestOrigin() origin: Origin,
    @Keyed() keyed: KeyedRequest | null,
  ): Promise<ClientObject & { token: string }> {
    const within = async (tx: Tx): Promise<void> => {
      if (keyed) await this.keys.note(tx, keyed);
    };
    return issuedToWire(await this.rotation.rotate(caller, id, { graceSeconds: grace ?? 0, origin, within }));
  }
}
