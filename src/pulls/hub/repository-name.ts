const PART = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,94}[A-Za-z0-9_])?$/;
const REVISION = /^[A-Za-z0-9_](?:[A-Za-z0-9_./-]{0,253}[A-Za-z0-9_])?$/;
const COMMIT = /^[0-9a-f]{40}$/;

/** `owner/name`, or a bare `name` as old repositories have it. */
export function isRepositoryName(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  const parts = value.split('/');
  return parts.length <= 2 && parts.every((part) => PART.test(part) && !/\.\.|--/.test(part));
}

/** A branch, a tag, a commit, or a reference such as `refs/pr/1`. */
export function isRevision(value: unknown): value is string {
  return typeof value === 'string' && REVISION.test(value) && !/\.\.|\/\/|\/\./.test(value);
}

export function isCommit(value: unknown): value is string {
  return typeof value === 'string' && COMMIT.test(value);
}
