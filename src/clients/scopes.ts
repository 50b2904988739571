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

/** One of SCOPES, or of those that extensions add in the same form. */
export type Scope = (typeof SCOPES)[number] | (`${string}:${string}` & {});

const SCOPE = /^[a-z][a-z0-9-]{0,39}:[a-z][a-z0-9-]{0,39}$/;

/** Scope → what it lets a client do. */
export type ScopeMeanings = Readonly<Record<string, string>>;

/** Of the application that was put together last: a process has one. */
let added: ScopeMeanings = {};

/** The scopes of all extensions, in the place of those before. Called by the composition root alone. */
export function addScopes(scopes: ScopeMeanings): void {
  added = { ...scopes };
}

/** Every scope that a token can have here. */
export function knownScopes(): readonly Scope[] {
  return [...SCOPES, ...(Object.keys(added) as Scope[])];
}

/** Of these scopes, what those that extensions add let a client do. */
export function meaningsOf(scopes: readonly Scope[]): ScopeMeanings {
  return Object.fromEntries(Object.entries(added).filter(([scope]) => scopes.includes(scope as Scope)));
}

export function isScope(word: string): word is Scope {
  return knownScopes().includes(word as Scope);
}

/** Whether a word could be the name of a scope. */
export function isScopeName(word: string): word is Scope {
  return SCOPE.test(word);
}
