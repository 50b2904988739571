/**
 * The service must not be started like this, and only whoever operates it can change that. Nothing was written. Each
 * problem is one sentence that names both sides. Exit code 78.
 */
export class StartRefused extends Error {
  constructor(
    readonly problems: readonly string[],
    options?: { cause?: unknown },
  ) {
    super(problems.join('; '), options);
    this.name = 'StartRefused';
  }
}
