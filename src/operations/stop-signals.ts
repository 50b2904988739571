import { EXIT_CODES, type ExitCode } from './exit-codes.js';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
export type StopReason = (typeof SIGNALS)[number] | 'request';

/** Signals this close together are one wish: a terminal's Ctrl-C arrives twice through npm (HOUSE 7). */
const SAME_WISH_MS = 1000;

export interface StopOptions {
  /** The clean stop (WIRE B6); called once. */
  stop: (reason: StopReason) => Promise<void>;
  /** Ends the process; called once by a stop, and at once by a second signal. */
  exit: (code: ExitCode) => void;
  /** Logs what made the stop fail and ends the process with 1. */
  crash: (error: unknown) => void;
  /** Where signals arrive: `process`, or an emitter in tests. */
  source: { on(signal: (typeof SIGNALS)[number], listener: () => void): unknown };
  /** Monotonic milliseconds. */
  now?: () => number;
}

/**
 * The first SIGTERM or SIGINT begins a clean stop: exit 0, or a crash if it fails. A later one, a second or more after the
 * first, ends the process at once with 1: recovery at the next start is the same path. Returns what begins the same stop
 * for another reason than a signal.
 */
export function stopOnSignals({ stop, exit, crash, source, now = () => performance.now() }: StopOptions): () => void {
  let firstAt: number | null = null;
  const onWish = (reason: StopReason): void => {
    if (firstAt === null) {
      firstAt = now();
      stop(reason).then(() => exit(EXIT_CODES.clean), crash);
    } else if (now() - firstAt >= SAME_WISH_MS) {
      exit(EXIT_CODES.failed);
    }
  };
  for (const signal of SIGNALS) source.on(signal, () => onWish(signal));
  return () => onWish('request');
}
