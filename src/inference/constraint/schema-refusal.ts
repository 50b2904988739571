/** A schema that cannot be enforced, or is none. `path` names the place as a JSON pointer does, e.g. `/properties/a`. */
export class SchemaRefusal extends Error {
  constructor(
    readonly path: string,
    /** Goes on behind the name of the place: `has no type`. */
    readonly rule: string,
    /** It is no schema at all, where others would understand it. */
    readonly invalid = false,
  ) {
    super(`${path} ${rule}`);
  }
}
