import { join } from 'node:path';
import { DomainError } from '../../errors/index.js';
import { readGraph, textLayout, type GraphFacts, type TextLayout } from '../../graphs/index.js';
import type { ProviderChoice } from '../execution-provider.js';
import type { Activations } from '../inference-engine.js';
import { GraphForms, type OpenedForm } from './graph-forms.js';
import type { KvMode } from './onnx-language-model.js';
import { worksInPlace } from './self-test.js';
import type { OnnxSession, SessionFactory } from './session.js';

export interface GraphToOpen {
  directory: string;
  /** Relative to it. */
  graphFile: string;
  threads: number;
  activations: Activations;
  provider: ProviderChoice;
}

export interface OpenedGraph {
  session: OnnxSession;
  layout: TextLayout;
  kvMode: KvMode;
  warnings: string[];
}

/** Opens a text graph in the best way that works here. Throws DomainError model_load_failed, naming the file. */
export async function openGraph(graph: GraphToOpen, sessions: SessionFactory): Promise<OpenedGraph> {
  try {
    return await openAny(graph, sessions);
  } catch (cause) {
    throw namingFile(graph, cause as Error);
  }
}

/** Messages of the system and the runtime name files by full path; the reader of an error has no use for it. */
export function namingFile(
  { directory, graphFile }: { directory: string; graphFile: string },
  cause: Error,
): DomainError {
  return new DomainError('model_load_failed', `${graphFile}: ${cause.message.replaceAll(directory, '.')}`, { cause });
}

async function openAny(graph: GraphToOpen, sessions: SessionFactory): Promise<OpenedGraph> {
  const { threads, provider } = graph;
  const path = join(graph.directory, graph.graphFile);
  const facts = readGraph(path);
  // Before the runtime reads gigabytes of weights.
  const { cacheKind, keepInput } = textLayout(facts);
  const int8Activations = graph.activations === 'int8';
  const shortOutput = cacheKind === 'in-place';
  const forms = new GraphForms(path, { int8Activations, lastPositions: keepInput === null, shortOutput });
  // The runtime's inner object may not be what it was: the public API then says whether the file is at fault.
  const native = await forms.open((source) => sessions.openNative(source, { threads, provider })).catch(() => null);
  if (native !== null) {
    const layout = layoutOf(facts, native);
    // A graph that makes its caches longer has to copy; so has a card, whose memory is not ours (ENGINE 4.12).
    const copies = cacheKind === 'concat' || provider.name !== 'cpu';
    if (copies || (await worksInPlace(native.session, layout))) {
      return opened(native, layout, copies ? 'copying' : 'in-place');
    }
    await native.session.dispose();
  }
  const slow = await forms.open((source) => sessions.openPublic(source, { threads, provider }));
  return opened(slow, layoutOf(facts, slow), 'copying');
}

function layoutOf(facts: GraphFacts, { session: { inputs, outputs }, form }: OpenedForm): TextLayout {
  const layout = textLayout({ ...facts, inputs, outputs });
  return { ...layout, logitsPositions: form.edited?.logitsPositions ?? layout.logitsPositions };
}

function opened({ session, warning }: OpenedForm, layout: TextLayout, kvMode: KvMode): OpenedGraph {
  return { session, layout, kvMode, warnings: warning === null ? [] : [warning] };
}
