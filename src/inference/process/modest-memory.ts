/**
 * What keeps a child process to the memory it needs. Left to itself, V8 gives the short-lived objects of a few steps 32 MB,
 * and looks for what is dead in an old heap of 6 MB when it has a hundred; what hangs on such objects outside of the
 * heap lives as long. Megabytes, and percent of what was alive.
 */
export const MODEST_HEAP: readonly string[] = [
  '--max-semi-space-size=2',
  '--initial-old-space-size=12',
  '--heap-growing-percent=40',
];

/** Of glibc; other systems ignore it. A pool for each thread is room that no other thread can use. */
export const ONE_MALLOC_POOL: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: '1' };
