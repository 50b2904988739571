const LONGEST_ID = 128;
const PART = /^[A-Za-z0-9][A-Za-z0-9._:@+-]*$/;

/** Ids and aliases are names, such as `org/name:tag`; none can be mistaken for a path that leads elsewhere (BL-34). */
export function isModelId(value: unknown): value is string {
  if (typeof value !== 'string' || value.length === 0 || value.length > LONGEST_ID) return false;
  return value.split('/').every((part) => PART.test(part) && !part.includes('..'));
}
