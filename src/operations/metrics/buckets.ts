/** Upper bounds of histograms (OPERATE 3.2). The two of the GenAI conventions are theirs, so that dashboards compare. */

/** Seconds of requests and loads: 0.01 doubling to 81.92. */
export const DURATIONS = Array.from({ length: 14 }, (_, i) => Number((0.01 * 2 ** i).toFixed(2)));

/** Seconds to a first token. */
export const FIRST_TOKEN = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Seconds for each token after it. */
export const PER_TOKEN = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];

/** Seconds in a queue, or of a whole task. */
export const QUEUE = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600];

/** Seconds of a write. */
export const STORE = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Tokens of one request: 1, 4, 16 … 65536. */
export const TOKENS = Array.from({ length: 9 }, (_, i) => 4 ** i);

/** Inputs of one commit: 1, 2, 4 … 256. */
export const BATCHES = Array.from({ length: 9 }, (_, i) => 2 ** i);
