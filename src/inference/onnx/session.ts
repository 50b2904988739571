import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { SHORT_OUTPUT, type TensorSlot } from '../../graphs/index.js';
import type { ProviderChoice } from '../execution-provider.js';
import type { Tensor } from './tensor.js';

export type Tensors = Record<string, Tensor>;

/** A graph as a file, or in memory with its weights in files below `folder`. */
export type GraphSource = { path: string } | { bytes: Buffer; folder: string };

export interface SessionOptions {
  /** Intra-op threads. */
  threads: number;
  /** The processor by default. */
  provider?: ProviderChoice;
}

/** How graphs are opened; a parameter, so that tests see what reaches the runtime. */
export interface SessionFactory {
  openNative(graph: GraphSource, options: SessionOptions): OnnxSession;
  openPublic(graph: GraphSource, options: SessionOptions): Promise<OnnxSession>;
}

/** A loaded graph. */
export interface OnnxSession {
  readonly inputs: TensorSlot[];
  readonly outputs: TensorSlot[];
  /** Runs and returns every output in memory of its own. */
  run(feeds: Tensors): Promise<Tensors>;
  /** Runs and writes into the tensors of `fetches`, which may share memory with feeds; absent where that is not possible. */
  runInPlace?(feeds: Tensors, fetches: Tensors): void;
  dispose(): Promise<void>;
}

interface NativeSession {
  loadModel(path: string, options: object): void;
  loadModel(buffer: ArrayBufferLike, from: number, length: number, options: object): void;
  run(feeds: Tensors, fetches: Record<string, Tensor | null>, options: object): Tensors;
  dispose(): void;
  readonly inputMetadata: NativeSlot[];
  readonly outputMetadata: NativeSlot[];
}
interface NativeSlot {
  name: string;
  type: number;
  shape: number[];
}
interface Binding {
  InferenceSession: new () => NativeSession;
  initOrtOnce(logLevel: number, tensorConstructor: unknown, isMainThread: boolean): void;
}

/** Numbers of the native metadata. */
const TYPE_NAMES: Record<number, string> = { 1: 'float32', 6: 'int32', 7: 'int64', 9: 'bool', 10: 'float16' };

/** Errors only: the runtime's initializer warnings are noise on stderr. */
const LOG_LEVEL = 3;

/**
 * How worker threads wait for the next of a step's hundreds of parallel parts. Woken from sleep for each, a step takes a
 * third longer; spinning for as long as the runtime does by default makes everything else on the machine slow, sessions
 * of our own first (ENGINE 2.3). So they spin for about as long as a part takes, and never between runs.
 */
const WAITING = {
  intra_op: { allow_spinning: '1', spin_duration_us: '50' },
  force_spinning_stop: '1',
};

export function nativeOptions(graph: GraphSource, { threads, provider }: SessionOptions): object {
  const weights = 'folder' in graph ? { model_external_initializers_file_folder_path: join(graph.folder, '/') } : {};
  return {
    graphOptimizationLevel: 'all',
    executionMode: 'sequential',
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: LOG_LEVEL,
    extra: { session: { ...WAITING, ...weights } },
    // Without the processor behind it no graph runs whose operators are not all on the device.
    ...(provider?.name === 'cuda' && {
      executionProviders: [{ name: 'cuda', deviceId: provider.deviceId }, { name: 'cpu' }],
    }),
  };
}

/** Thrown by the result constructor to end the copying of outputs. */
const COPY_SKIPPED = Symbol('copy skipped');
let skipCopies = false;

/** The binding builds each result with this; the run itself is over by then, pre-allocated outputs are filled. */
function Result(this: Record<string, unknown>, type: string, data: unknown, dims: readonly number[]): void {
  if (skipCopies) throw COPY_SKIPPED as unknown as Error;
  Object.assign(this, { type, data, dims, location: 'cpu' });
}

let binding: Binding | null = null;

function loadBinding(): Binding {
  if (binding) return binding;
  const loaded = createRequire(import.meta.url)('onnxruntime-node/dist/binding.js') as { binding: Binding };
  loaded.binding.initOrtOnce(LOG_LEVEL, Result, isMainThread);
  binding = loaded.binding;
  return binding;
}

/**
 * Opens a graph on the package's synchronous native object, which alone allows outputs in place (ENGINE 2). Throws what
 * the runtime says. The object is not public API: the self-test decides whether it does what is expected here.
 */
export function openNative(graph: GraphSource, options: SessionOptions): OnnxSession {
  const { InferenceSession } = loadBinding();
  const native = new InferenceSession();
  const settings = nativeOptions(graph, options);
  if ('path' in graph) native.loadModel(graph.path, settings);
  else native.loadModel(graph.bytes.buffer, graph.bytes.byteOffset, graph.bytes.byteLength, settings);
  const slots = (metadata: NativeSlot[]): TensorSlot[] =>
    metadata.map(({ name, type, shape }) => ({ name, type: TYPE_NAMES[type] ?? `type ${type}`, shape: [...shape] }));
  const outputs = slots(native.outputMetadata);
  const all = Object.fromEntries(outputs.map(({ name }) => [name, null]));
  const short: Record<string, null> = outputs[0]?.name === SHORT_OUTPUT ? { [SHORT_OUTPUT]: null } : {};
  return {
    inputs: slots(native.inputMetadata),
    outputs,
    run: (feeds) => Promise.resolve(native.run(feeds, all, {})),
    runInPlace(feeds, fetches) {
      skipCopies = true;
      try {
        native.run(feeds, { ...fetches, ...short }, {});
      } catch (error) {
        if (error !== COPY_SKIPPED) throw error;
      } finally {
        skipCopies = false;
      }
    },
    dispose: () => Promise.resolve(native.dispose()),
  };
}

/** Opens a graph through the package's public API: every output is copied by it. */
export async function openPublic(graph: GraphSource, options: SessionOptions): Promise<OnnxSession> {
  const ort = await import('onnxruntime-node');
  const settings = nativeOptions(graph, options);
  const session = await ('path' in graph
    ? ort.InferenceSession.create(graph.path, settings)
    : ort.InferenceSession.create(graph.bytes, settings));
  const slots = (metadata: readonly unknown[]): TensorSlot[] =>
    (metadata as { name: string; type: string; shape: (number | string)[] }[]).map(({ name, type, shape }) => ({
      name,
      type,
      shape: shape.map((dim) => (typeof dim === 'number' ? dim : -1)),
    }));
  return {
    inputs: slots(session.inputMetadata),
    outputs: slots(session.outputMetadata),
    async run(feeds) {
      const given = Object.entries(feeds).map(([name, { type, data, dims }]) => [
        name,
        new ort.Tensor(type, data as never, dims),
      ]);
      return (await session.run(Object.fromEntries(given) as never)) as unknown as Tensors;
    },
    dispose: () => session.release(),
  };
}

export const RUNTIME_SESSIONS: SessionFactory = { openNative, openPublic };
