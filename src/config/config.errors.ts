/** One thing to correct. `value` is what was found, null where it must not be shown (unknown keys may be misspelt secrets). */
export interface ConfigProblem {
  key: string;
  expected: string;
  value: string | null;
}

const SHOWN_CHARACTERS = 80;

/** The configuration cannot be used; carries every problem, so that one look is enough. Exit code 78. */
export class ConfigInvalid extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(['configuration invalid:', ...problems.map(describe)].join('\n  '));
    this.name = 'ConfigInvalid';
    this.problems = problems;
  }
}

function describe({ key, expected, value }: ConfigProblem): string {
  return `${key}: expected ${expected}${value === null ? '' : `, found ${JSON.stringify(value.slice(0, SHOWN_CHARACTERS))}`}`;
}
