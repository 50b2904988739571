import { EXIT } from './exit-codes.js';

/**
 * What Ctrl-C does: the first runs the first reaction, the second the second; one without a reaction leaves. The returned
 * function ends it.
 */
export function onInterrupt(...reactions: (() => void)[]): () => void {
  let count = 0;
  const react = (): void => {
    const reaction = reactions[count++];
    if (reaction === undefined) process.exit(EXIT.interrupted);
    reaction();
  };
  process.on('SIGINT', react);
  return () => process.off('SIGINT', react);
}
