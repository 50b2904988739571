const MASK = (1n << 64n) - 1n;
const GOLDEN = 0x9e3779b97f4a7c15n;

/** The finaliser of splitmix64: a bijection on 64 bits whose output bits are all well mixed. */
function mix64(value: bigint): bigint {
  let z = value & MASK;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return z ^ (z >> 31n);
}

/**
 * The random number of token `index` under `seed`, in [0, 1) with 53 bits. Stateless, so that a continued generation
 * draws exactly what the uninterrupted one would have drawn (ENGINE 1.5). Both arguments are integers 0..2^53-1.
 */
export function uniform(seed: number, index: number): number {
  const start = mix64(BigInt(seed) + GOLDEN);
  return Number(mix64(start + BigInt(index) * GOLDEN) >> 11n) / 2 ** 53;
}
