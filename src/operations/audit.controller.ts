import { Controller, Get, Query } from '@nestjs/common';
import { AUDIT_ACTIONS, AuditTrail } from '../audit/index.js';
import { RequireScope } from '../clients/index.js';
import {
  listObject,
  ListOf,
  OneOf,
  QueryFields,
  SingleText,
  WholeNumber,
  type ListObject,
  type QueryOf,
} from '../http/index.js';
import { auditToWire, type AuditEventObject } from './audit-view.js';

const FIELDS = {
  action: new ListOf(AUDIT_ACTIONS),
  limit: new WholeNumber({ min: 1, max: 1000, fallback: 100 }),
  order: new OneOf(['desc', 'asc'], 'desc'),
  after: new SingleText(),
};
const QUERY = new QueryFields(FIELDS);

/** Who did what, newest first (WIRE B2, OPERATE 5). */
@Controller('v1/audit')
export class AuditController {
  constructor(private readonly trail: AuditTrail) {}

  @Get()
  @RequireScope('operator:read')
  async list(@Query(QUERY) { action, ...page }: QueryOf<typeof FIELDS>): Promise<ListObject<AuditEventObject>> {
    const { events, hasMore } = await this.trail.page({ ...page, actions: action });
    return listObject(events.map(auditToWire), hasMore);
  }
}
