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
import {
  listObject,
  OneOf,
  QueryFields,
  SingleText,
  WholeNumber,
  type ListObject,
  type QueryOf,
} from '../http/index.js';
import { clientToWire, issuedToWire, type ClientObject } from './client-view.js';
import { ChangeClientDto } from './dto/change-client.dto.js';
import { CreateClientDto } from './dto/create-client.dto.js';
import { RotateClientDto } from './dto/rotate-client.dto.js';

const LIST_FIELDS = {
  limit: new WholeNumber({ min: 1, max: 100, fallback: 100 }),
  order: new OneOf(['desc', 'asc'], 'desc'),
  after: new SingleText(),
};
const LIST_QUERY = new QueryFields(LIST_FIELDS);

/** Clients as the owner manages them (WIRE B2, B8). A client sees, rotates and revokes itself without a scope. */
@Controller('v1/clients')
export class ClientsController {
  constructor(
    private readonly clients: ClientRegistry,
    private readonly rotation: TokenRotation,
    private readonly revocation: ClientRevocation,
  ) {}

  @Get()
  @RequireScope('clients:manage')
  async list(@Query(LIST_QUERY) query: QueryOf<typeof LIST_FIELDS>): Promise<ListObject<ClientObject>> {
    const { clients, hasMore } = await this.clients.page(query);
    return listObject(clients.map(clientToWire), hasMore);
  }

  /** A client without a pairing: 201 with its token, once. */
  @Post()
  @RequireScope('clients:manage')
  async create(
    @CurrentClient() caller: Client,
    @Body() { name, scopes, expires_in: life }: CreateClientDto,
    @RequestOrigin() origin: Origin,
  ): Promise<ClientObject & { token: string }> {
    const expiresAt = life == null ? null : Date.now() + life * 1000;
    return issuedToWire(await this.clients.create(caller, { name, scopes, expiresAt }, origin));
  }

  @Get('me')
  @AnyClient()
  async me(@CurrentClient() { id }: Client): Promise<ClientObject> {
    return clientToWire(await this.clients.get(id));
  }

  @Get(':id')
  @RequireScopeOrOwn('clients:manage', 'id')
  async read(@Param('id') id: string): Promise<ClientObject> {
    return clientToWire(await this.clients.get(id));
  }

  @Patch(':id')
  @RequireScope('clients:manage')
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
  async rotate(
    @CurrentClient() caller: Client,
    @Param('id') id: string,
    @Body() { grace_seconds: grace }: RotateClientDto,
    @RequestOrigin() origin: Origin,
  ): Promise<ClientObject & { token: string }> {
    return issuedToWire(await this.rotation.rotate(caller, id, grace ?? 0, origin));
  }
}
