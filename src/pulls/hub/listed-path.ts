const LONGEST_PATH = 512;
const LONGEST_PART = 200;
const DEEPEST = 16;

/** Names that Windows takes for devices, with any ending. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * What is wrong with the path of a listed file; null: nothing. Good is what means the same file below its folder on every
 * system, so nothing of it can lead elsewhere (BL-34).
 */
export function pathFault(path: unknown): string | null {
  if (typeof path !== 'string' || path === '') return 'a file without a path';
  const shown = JSON.stringify(path.slice(0, LONGEST_PART));
  if (path.length > LONGEST_PATH) return `${shown}…, which is too long`;
  const parts = path.split('/');
  if (parts.length > DEEPEST) return `${shown}, which lies too deep`;
  return parts.every(isPlainPart) ? null : `${shown}, which is no plain path`;
}

function isPlainPart(part: string): boolean {
  if (part === '' || part === '.' || part === '..' || part.length > LONGEST_PART) return false;
  if (/[\\:\u0000-\u001f\u007f]/.test(part) || /[. ]$/.test(part) || part.startsWith(' ')) return false;
  return !DEVICE.test(part);
}
