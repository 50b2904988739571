import type { StepLogprobs, TokenLogprob } from '../inference-engine.js';
import { MaxHeap } from './max-heap.js';
import type { TokenDecoder } from './text-assembler.js';

/**
 * What the model itself thought of the drawn token and of the `count` likeliest, by the softmax of its logits; ties go to
 * the lower id. Null where nobody asked.
 */
export function logprobsOf(
  logits: Float32Array,
  drawn: number,
  count: number | undefined,
  decoder: TokenDecoder,
): StepLogprobs | null {
  if (count === undefined) return null;
  const size = Math.min(logits.length, decoder.size);
  let most = -Infinity;
  for (let id = 0; id < size; id++) most = Math.max(most, logits[id]!);
  let sum = 0;
  for (let id = 0; id < size; id++) sum += Math.exp(logits[id]! - most);
  const total = most + Math.log(sum);
  const one = (id: number): TokenLogprob => ({ ...written(id, decoder), logprob: logits[id]! - total });
  return { ...one(drawn), top: likeliest(logits, size, count).map(one) };
}

function written(tokenId: number, decoder: TokenDecoder): Omit<TokenLogprob, 'logprob'> {
  const text = decoder.hiddenTokenIds.has(tokenId) ? '' : decoder.decode([tokenId]);
  const bytes = decoder.vocabulary?.bytesOf(tokenId) ?? Buffer.from(text, 'utf8');
  return { tokenId, text, bytes: [...bytes] };
}

function likeliest(logits: Float32Array, size: number, count: number): number[] {
  const best: number[] = [];
  if (count === 0) return best;
  const heap = new MaxHeap(
    Array.from({ length: size }, (_, id) => id),
    (a, b) => logits[a]! > logits[b]! || (logits[a] === logits[b] && a < b),
  );
  while (best.length < count && heap.size > 0) best.push(heap.pop());
  return best;
}
