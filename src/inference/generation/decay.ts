/** Parts that a halving is cut into: entry i of the table is 2^(-i/64). */
const PARTS = 64;
const BY_PART = PARTS / Math.LN2;
const PART = Math.LN2 / PARTS;
/** Beyond it the result is 0; e^-40 is 4e-18. */
const FARTHEST = 40;
const TABLE = powers(Math.ceil(FARTHEST * BY_PART) + 1);

/**
 * e^-x for x ≥ 0, to some 1e-15 of it; 0 from 40 on. Exactly 1 at 0, never rising with x by more than rounding. Only
 * sums, products and roots, which IEEE 754 rounds in one way everywhere: `Math.exp` may differ between engines, and a
 * draw continued elsewhere with it. It is also faster.
 */
export function decay(x: number): number {
  if (!(x < FARTHEST)) return 0;
  const parts = x * BY_PART;
  const whole = parts | 0;
  const r = (parts - whole) * PART;
  return TABLE[whole]! * (1 - r * (1 - r * (1 / 2 - r * (1 / 6 - r * (1 / 24 - r / 120)))));
}

/** 2^(-i/64) for i below `count`, each the product of at most six roots of one half and a power of two. */
function powers(count: number): Float64Array {
  const roots = [Math.sqrt(0.5)];
  while (roots.length < Math.log2(PARTS)) roots.push(Math.sqrt(roots.at(-1)!));
  const table = new Float64Array(count);
  for (let i = 0; i < PARTS; i++)
    table[i] = roots.reduce((product, root, k) => (i & (32 >> k) ? product * root : product), 1);
  for (let i = PARTS; i < count; i++) table[i] = table[i - PARTS]! / 2;
  return table;
}
