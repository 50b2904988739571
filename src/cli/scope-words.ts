/** What each scope lets a program do, as a person is asked about it (WIRE B1). */
const WORDS: Readonly<Record<string, string>> = {
  'models:read': 'see the models',
  'models:manage': 'add, load, unload and delete models',
  'responses:read': 'read its own answers',
  'responses:write': 'let models answer, delete its own answers',
  'embeddings:write': 'compute embeddings',
  'tasks:read': 'see its own tasks and their events',
  'tasks:write': 'create tasks of other kinds',
  'tasks:cancel': 'cancel its own tasks',
  'clients:manage': 'let other programs in and shut them out',
  'service:read': 'see limits, counters and metrics of the service',
  'operator:read': 'see the tasks of every program, without their texts, and the audit log',
  'operator:manage': 'cancel any task, run retention, back up and stop the service',
};

/** Granted only when they are named (WIRE B8). */
const PRIVILEGED = ['models:manage', 'clients:manage', 'tasks:write', 'operator:read', 'operator:manage'];

/** Those that extensions add, or that are not known here, are. */
export function isPrivileged(scope: string): boolean {
  return PRIVILEGED.includes(scope) || !(scope in WORDS);
}

/** @param meanings of scopes that extensions add */
export function scopeWords(scope: string, meanings: Readonly<Record<string, string>> = {}): string {
  return WORDS[scope] ?? meanings[scope] ?? 'unknown to this program';
}
