export {
  AUDIT_ACTIONS,
  AUDIT_OUTCOMES,
  type AuditAction,
  type AuditDetail,
  type AuditOutcome,
} from './audit-actions.js';
export { AuditLog, type AuditEntry } from './audit-log.js';
export { AuditTrail, type AuditEvent, type AuditPageRequest } from './audit-trail.js';
export { AuditModule, type AuditModuleOptions } from './audit.module.js';
export { CoalescedAudit } from './coalesced-audit.js';
export { NO_ORIGIN, originOf, RequestOrigin, type Origin } from './origin.js';
