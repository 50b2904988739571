import { DomainError } from '../errors/index.js';
import type { EncoderInfo } from '../inference/index.js';

/**
 * Throws where the model was not trained for vectors of this size: unsupported_parameter for a model that has one size
 * only, unsupported_value for one that has others.
 */
export function checkDimensions(wanted: number | null, info: EncoderInfo): void {
  const { dimensions, shorterDimensions } = info;
  if (wanted === null || wanted === dimensions) return;
  const param = 'dimensions';
  if (shorterDimensions === null) {
    const message = `'${param}' is not supported: the model's vectors have ${dimensions} numbers.`;
    throw new DomainError('unsupported_parameter', message, { param });
  }
  if (shorterDimensions === 'any' ? wanted < dimensions : shorterDimensions.includes(wanted)) return;
  const sizes = shorterDimensions === 'any' ? `1 to ${dimensions}` : [...shorterDimensions, dimensions].join(', ');
  throw new DomainError('unsupported_value', `'${param}' may be ${sizes} for this model.`, { param });
}

/** The first numbers of a vector; at length 1 again where the model's vectors are. */
export function shortened(vector: Float32Array, wanted: number | null, { normalized }: EncoderInfo): Float32Array {
  if (wanted === null || wanted >= vector.length) return vector;
  const short = vector.slice(0, wanted);
  const length = normalized ? Math.hypot(...short) : 1;
  return length === 0 ? short : short.map((value) => value / length);
}

/** float32, little-endian, whatever the machine is. */
export function base64Of(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, i) => bytes.writeFloatLE(value, i * 4));
  return bytes.toString('base64');
}
