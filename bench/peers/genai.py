"""usage: genai.py FOLDER THREADS: for each line {prompts, tokens} of standard input, the times and ids of a batch's greedy tokens."""
import json
import sys
import time

import numpy
import onnxruntime_genai as genai

folder, threads = sys.argv[1], int(sys.argv[2])
genai.disable_telemetry_events()
config = genai.Config(folder)
options = {"intra_op_num_threads": threads, "inter_op_num_threads": 1}
config.overlay(json.dumps({"model": {"decoder": {"session_options": options}}}))
model = genai.Model(config)


def now():
    return time.perf_counter() * 1000


def generate(prompts, tokens):
    asked, times, steps = now(), [], []
    length = len(prompts[0]) + tokens
    params = genai.GeneratorParams(model)
    # As long as the longest: no token ends an answer.
    params.set_search_options(batch_size=len(prompts), max_length=length, min_length=length, do_sample=False)
    generator = genai.Generator(model, params)
    generator.append_tokens(numpy.array(prompts, dtype=numpy.int32))
    while not generator.is_done():
        generator.generate_next_token()
        times.append(now())
        steps.append(generator.get_next_tokens().tolist())
    if len(times) != tokens:
        raise RuntimeError(f"{len(times)} of {tokens} tokens")
    return {"asked": asked, "times": times, "outputs": list(zip(*steps))}


print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    print(json.dumps(generate(**json.loads(line))), flush=True)
