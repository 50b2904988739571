// Prompts of an exact number of tokens, no two alike from their first words on, so that no cache of prefixes helps.
import { encodeChat, openModelText } from '../../dist/src/inference/text/model-text.js';

const WORDS =
  'the of and to in that is was he for it with as his on be at by had not are but from or have an they which one you'.split(
    ' ',
  );
let made = 0;

/** Resolves with a maker of prompts for the model of a folder: `{ instructions, input, ids }`. */
export async function promptMaker(directory) {
  const model = await openModelText(directory);
  const idsOf = (instructions, input) => {
    const messages = [
      { role: 'system', content: instructions },
      { role: 'user', content: input },
    ];
    return encodeChat(model, { messages }).ids;
  };
  return (tokens) => {
    const seed = ++made;
    const word = (i) => WORDS[(i * 7 + seed * 13 + Math.floor((i * seed) / 11)) % WORDS.length];
    const instructions = `${word(1)} ${word(2)} ${word(3)} ${seed}. Go on with the story.`;
    const frame = idsOf(instructions, 'Once').length;
    const words = Array.from({ length: tokens - frame }, (_, i) => word(i));
    const input = ['Once', ...words].join(' ');
    const ids = idsOf(instructions, input);
    if (ids.length !== tokens) throw new Error(`a prompt of ${tokens} tokens came out with ${ids.length}`);
    return { instructions, input, ids };
  };
}
