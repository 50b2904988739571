// transformers.js in a process of its own; started by in-process.mjs.
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PEERS } from './install.mjs';
import { serveInProcess } from './in-process.mjs';

const { directory, threads } = JSON.parse(process.argv[2]);
const entry = createRequire(join(PEERS, 'package.json')).resolve('@huggingface/transformers');
const { AutoModelForCausalLM, BaseStreamer, env, Tensor } = await import(pathToFileURL(entry));

env.allowRemoteModels = false;
env.localModelPath = `${dirname(directory)}/`;
const model = await AutoModelForCausalLM.from_pretrained(basename(directory), {
  dtype: 'q4',
  device: 'cpu',
  session_options: { intraOpNumThreads: threads, interOpNumThreads: 1 },
});

class Times extends BaseStreamer {
  constructor(tell) {
    super();
    this.tell = tell;
    this.isPrompt = true;
  }
  put([[token]]) {
    if (!this.isPrompt) this.tell(Number(token));
    this.isPrompt = false;
  }
  end() {}
}

serveInProcess(async (ids, tokens, tell) => {
  const row = (values) => new Tensor('int64', BigInt64Array.from(values, BigInt), [1, ids.length]);
  await model.generate({
    input_ids: row(ids),
    attention_mask: row(ids.map(() => 1)),
    max_new_tokens: tokens,
    min_new_tokens: tokens,
    do_sample: false,
    streamer: new Times(tell),
  });
});
