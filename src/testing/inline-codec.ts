import type { PromptCodec } from '../inference/index.js';
import { checkConstraint } from '../inference/text/check-constraint.js';
import { decode, encode, encodeChat, openModelText } from '../inference/text/model-text.js';
import type { EncodeJob } from '../inference/text/text-protocol.js';

const encodeHere = async (job: EncodeJob): Promise<number[]> => encode(await openModelText(job.directory), job);

/** The product's own templates and tokenizer, in this process. */
export const inlineCodec: PromptCodec = {
  encodeChat: async (directory, messages, options) =>
    encodeChat(await openModelText(directory), { kind: 'chat', directory, messages, ...options }),
  encodeText: (directory, text, options) => encodeHere({ kind: 'text', directory, text, ...options }),
  decode: async (directory, tokens) => decode(await openModelText(directory), tokens),
  checkConstraint: async (directory, constraint, places) => {
    const { content } = await openModelText(directory);
    checkConstraint(content, { kind: 'constraint', directory, constraint, places });
  },
  close: () => Promise.resolve(),
};
