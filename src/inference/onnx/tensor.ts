import type { IntegerType } from '../../graphs/index.js';

/** Element types this engine handles; float16 travels as bit patterns, since Node 20 has no Float16Array. */
export type ElementType = 'float32' | 'float16' | IntegerType;
export type FloatArray = Float32Array | Uint16Array;

/** A tensor as the runtime takes and gives it. */
export interface Tensor {
  readonly type: ElementType;
  readonly data: FloatArray | BigInt64Array | Int32Array;
  readonly dims: readonly number[];
  readonly location: 'cpu';
}

export function tensor(type: ElementType, data: Tensor['data'], dims: readonly number[]): Tensor {
  return { type, data, dims, location: 'cpu' };
}

/** Numbers as a tensor of the type that the graph wants. */
export function integers(type: IntegerType, values: readonly number[], dims: readonly number[]): Tensor {
  return tensor(type, type === 'int64' ? BigInt64Array.from(values, BigInt) : Int32Array.from(values), dims);
}

/** The mask of rows with `lengths` tokens each, as wide as the longest: ones on the left (ENGINE 2.9). */
export function mask(type: IntegerType, lengths: readonly number[], total: number): Tensor {
  const dims = [lengths.length, total];
  if (type === 'int32') {
    const data = new Int32Array(lengths.length * total);
    lengths.forEach((length, b) => data.fill(1, b * total, b * total + length));
    return tensor(type, data, dims);
  }
  const data = new BigInt64Array(lengths.length * total);
  lengths.forEach((length, b) => data.fill(1n, b * total, b * total + length));
  return tensor(type, data, dims);
}

export function floats(type: 'float32' | 'float16', length: number): FloatArray {
  return type === 'float16' ? new Uint16Array(length) : new Float32Array(length);
}

let halfTable: Float32Array | undefined;

/** Values of float16 bit patterns, by a table of all 65,536 (ENGINE 7.12). */
export function halfToFloat(bits: Uint16Array): Float32Array {
  halfTable ??= Float32Array.from({ length: 65_536 }, (_, pattern) => halfValue(pattern));
  const out = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) out[i] = halfTable[bits[i]!]!;
  return out;
}

function halfValue(pattern: number): number {
  const sign = pattern & 0x8000 ? -1 : 1;
  const exponent = (pattern >> 10) & 0x1f;
  const fraction = pattern & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
