/** What a token may be good for (WIRE B1). */
export const SCOPES = [
  'models:read',
  'models:manage',
  'responses:read',
  'responses:write',
  'embeddings:write',
  'tasks:read',
  'tasks:write',
  'tasks:cancel',
  'clients:manage',
  'service:read',
  'operator:read',
  'operator:manage',
] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(word: string): word is Scope {
  return (SCOPES as readonly string[]).includes(word);
}
