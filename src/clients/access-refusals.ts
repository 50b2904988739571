import { Injectable } from '@nestjs/common';
import { CoalescedAudit, type Origin } from '../audit/index.js';
import type { Scope } from './scopes.js';

/** Puts on record who was refused: what strangers cause at will, so it is coalesced. */
@Injectable()
export class AccessRefusals {
  constructor(private readonly audit: CoalescedAudit) {}

  /** A token or code that opens nothing. */
  wrongSecret(origin: Origin): void {
    this.audit.note({ action: 'token.refused', object: null, origin, outcome: 'refused' });
  }

  missingScope(scope: Scope, origin: Origin): void {
    this.audit.note({ action: 'scope.refused', object: null, origin, outcome: 'refused', detail: { scope } });
  }
}
