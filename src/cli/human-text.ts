export const TIME_STYLES = ['relative', 'iso'] as const;
export type TimeStyle = (typeof TIME_STYLES)[number];

const STEPS: readonly (readonly [limit: number, unit: number, name: string])[] = [
  [60, 1, 's'],
  [3600, 60, 'min'],
  [86_400, 3600, 'h'],
  [Infinity, 86_400, 'd'],
];

/** `12 s`, `5 min`, `3 h`, `8 d`. */
export function span(seconds: number): string {
  const [, unit, name] = STEPS.find(([limit]) => seconds < limit)!;
  return `${Math.floor(seconds / unit)} ${name}`;
}

/** A time of the API (unix seconds) as tables show it. */
export function timeText(seconds: number | null | undefined, style: TimeStyle = 'relative', now = Date.now()): string {
  if (seconds == null) return '–';
  if (style === 'iso') return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
  const ago = Math.floor(now / 1000) - seconds;
  return ago >= 0 ? `${span(ago)} ago` : `in ${span(-ago)}`;
}

/** `12.3 MB`. */
export function sizeText(bytes: number | null | undefined): string {
  if (bytes == null) return '–';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const value = bytes / 1000 ** step;
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`;
}
