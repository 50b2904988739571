"""usage: llama_server.py FILE.gguf THREADS SLOTS CONTEXT: serves the file over HTTP until standard input ends; prints its address."""
import sys

import xllamacpp

path, threads, slots, context = sys.argv[1], *map(int, sys.argv[2:5])
params = xllamacpp.CommonParams()
params.model.path = path
params.n_ctx = slots * context
params.n_parallel = slots
params.cpuparams.n_threads = threads
params.cpuparams_batch.n_threads = threads
params.n_gpu_layers = 0
params.verbosity = 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
