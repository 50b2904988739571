/** Element types this engine handles; float16 travels as bit patterns, since Node 20 has no Float16Array. */
export type ElementType = 'float32' | 'float16' | 'int64';
export type FloatArray = Float32Array | Uint16Array;

/** A tensor as the runtime takes and gives it. */
export interface Tensor {
  readonly type: ElementType;
  readonly data: FloatArray | BigInt64Array;
  readonly dims: readonly number[];
  readonly location: 'cpu';
}

/** Name, type and shape of a graph input or output; -1 stands for a dimension that is free. */
export interface TensorSlot {
  name: string;
  type: string;
  shape: number[];
}

export function tensor(type: ElementType, data: Tensor['data'], dims: readonly number[]): Tensor {
  return { type, data, dims, location: 'cpu' };
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
