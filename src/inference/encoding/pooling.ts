/** How the vectors of a text's tokens become one, as sentence-transformers names it. */
export const POOLINGS = ['mean', 'cls', 'max', 'lasttoken', 'mean_sqrt_len_tokens', 'weightedmean'] as const;
export type Pooling = (typeof POOLINGS)[number];

/** One text's part of a graph's output: `tokens` vectors of `size` numbers, one after the other, padding left out. */
export interface TokenVectors {
  data: Float32Array;
  tokens: number;
  size: number;
}

/** The vector of the text. */
export function pool({ data, tokens, size }: TokenVectors, pooling: Pooling): Float32Array {
  if (pooling === 'cls') return data.slice(0, size);
  if (pooling === 'lasttoken') return data.slice((tokens - 1) * size, tokens * size);
  if (pooling === 'max') return maximum(data, tokens, size);
  const weigh = (token: number): number => (pooling === 'weightedmean' ? token + 1 : 1);
  const sum = new Float64Array(size);
  let weights = 0;
  for (let token = 0; token < tokens; token++) {
    const weight = weigh(token);
    weights += weight;
    for (let i = 0; i < size; i++) sum[i] = sum[i]! + weight * data[token * size + i]!;
  }
  const divisor = pooling === 'mean_sqrt_len_tokens' ? Math.sqrt(weights) : weights;
  return Float32Array.from(sum, (value) => value / divisor);
}

function maximum(data: Float32Array, tokens: number, size: number): Float32Array {
  const most = data.slice(0, size);
  for (let at = size; at < tokens * size; at++) most[at % size] = Math.max(most[at % size]!, data[at]!);
  return most;
}

/** The vector at length 1; one of zeros stays as it is. */
export function normalized(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? vector : vector.map((value) => value / length);
}
