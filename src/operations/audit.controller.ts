import { Controller, Get, Query } from '@nestjs/common';
import { AUDIT_ACTIONS, AuditTrail } from '../audit/index.js';
import { RequireScope } from '../clients/index.js';
import {
  listObject,
  listSchema,
  ListOf,
  pageFields,
  QueryFields,
  type ListObject,
  type QueryOf,
} from '../http/index.js';
import { DescribeRoute, Tag } from '../openapi/index.js';
import { auditToWire, type AuditEventObject } from './audit-view.js';
import { AUDIT_EVENT } from './operations-schema.js';

const FIELDS = {
  action: new ListOf(AUDIT_ACTIONS),
  ...pageFields('event', { max: 1000, fallback: 100 }),
};
const QUERY = new QueryFields(FIELDS);

/** Who did what, newest first (WIRE B2, OPERATE 5). */
@Tag('Service')
@Controller('v1/audit')
export class AuditController {
  constructor(private readonly trail: AuditTrail) {}

  @Get()
  @RequireScope('operator:read')
  @DescribeRoute({
    id: 'listAuditEvents',
    summary: 'Tells who did what, newest first',
    query: QUERY.schemas,
    answers: { 200: { description: 'One page', schema: listSchema(AUDIT_EVENT) } },
    errors: ['invalid_value'],
  })
  async list(@Query(QUERY) { action, ...page }: QueryOf<typeof FIELDS>): Promise<ListObject<AuditEventObject>> {
    const { events, hasMore } = await this.trail.page({ ...page, actions: action });
    return listObject(events.map(auditToWire), hasMore);
  }
}
