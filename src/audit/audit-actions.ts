/** What is recorded. */
export const AUDIT_ACTIONS = [
  'pairing.asked',
  'pairing.approved',
  'pairing.denied',
  'pairing.consumed',
  'client.created',
  'client.changed',
  'client.rotated',
  'client.revoked',
  'token.refused',
  'scope.refused',
  'model.pull',
  'model.registered',
  'model.deleted',
  'task.cancelled',
  'retention.run',
  'service.stop',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export const AUDIT_OUTCOMES = ['done', 'refused'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** What is worth knowing beside the ids. Never a token, a code, a prompt or an output. */
export type AuditDetail = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
