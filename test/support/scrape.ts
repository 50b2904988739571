import type { HttpApp } from './http-app.js';
import { readPrometheusText, type ReadFamily } from './prometheus-text.js';

/** The metrics as the owner reads them, by name. */
export async function scrapeOf(app: HttpApp): Promise<Map<string, ReadFamily>> {
  const response = await app.fetch('GET', '/metrics');
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return readPrometheusText(text);
}

/** The value of the first series with these labels; undefined where there is none. */
export function valueOf(
  families: Map<string, ReadFamily>,
  name: string,
  labels: Record<string, string> = {},
): number | undefined {
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));
  const sample = family?.samples.find(
    (each) => each.name === name && Object.entries(labels).every(([label, value]) => each.labels[label] === value),
  );
  return sample?.value;
}
