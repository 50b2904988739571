/**
 * Called first by every child process of the service. A terminal's Ctrl-C reaches the whole process group, but only the
 * service decides when a child ends: by SIGKILL, or by the end of the channel when the service itself is gone (WIRE B6).
 */
export function endWithParent(): void {
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  process.on('disconnect', () => process.exit(0));
}
