/** Exit codes of the command line (OPERATE 1.2). Those of the server process are others: src/operations/exit-codes.ts. */
export const EXIT = {
  done: 0,
  /** The task failed, or the service answered 5xx. */
  failed: 1,
  usage: 2,
  noService: 3,
  /** 401, 403. */
  denied: 4,
  notFound: 5,
  /** Refused by state: 409, 422, not cancellable. */
  refused: 6,
  timeLimit: 7,
  interrupted: 130,
} as const;

export type Exit = (typeof EXIT)[keyof typeof EXIT];

const BY_STATUS: Readonly<Record<number, Exit>> = {
  401: EXIT.denied,
  403: EXIT.denied,
  404: EXIT.notFound,
  409: EXIT.refused,
  410: EXIT.notFound,
  422: EXIT.refused,
  429: EXIT.failed,
};

/** The exit code for an answer of 400 or more. */
export function exitOfAnswer(status: number, code: string | null): Exit {
  if (code?.endsWith('_not_cancellable')) return EXIT.refused;
  return BY_STATUS[status] ?? (status < 500 ? EXIT.usage : EXIT.failed);
}
