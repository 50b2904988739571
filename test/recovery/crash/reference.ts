import type { ServiceProcess } from '../../support/service-process.js';
import { readStoreImage, type StoredTask } from '../../support/store-image.js';
import { snapshotOf } from '../../../src/testing/response-invariants.js';
import { waitFor } from '../../support/wait-for.js';
import { JOBS } from './jobs.js';

/** A point that both token ids and deltas had reached together on disk. */
interface Mark {
  tokens: number;
  deltas: number;
}

/** What a job's answer is when nothing interrupts it. */
export interface Reference {
  status: string;
  text: string;
  usage: { input_tokens: number; output_tokens: number; total_tokens: number };
  tokenIds: number[];
  deltas: string[];
  marks: Mark[];
}

export type References = ReadonlyMap<string, Reference>;

/** Token ids of the task's present start; the first line of a start names its engine too. */
export function tokenIdsOf({ task, snapshots }: StoredTask): number[] {
  return snapshots
    .filter(({ startCount }) => startCount === task.startCount)
    .flatMap(({ lines }) => lines)
    .flatMap((line) => /^(\d+)b?\*?(?: \S+)?$/.exec(line)?.[1] ?? [])
    .map(Number);
}

/** Texts of the deltas since the output was last begun anew. */
export function deltasOf({ events }: Pick<StoredTask, 'events'>): string[] {
  const begun = events.filter(({ type }) => type === 'response.queued').at(-1)?.sequenceNumber ?? 0;
  return events
    .filter(({ type, sequenceNumber }) => type === 'response.output_text.delta' && sequenceNumber > begun)
    .map(({ payload }) => (JSON.parse(payload) as { delta: string }).delta);
}

/** Runs every job once on a service that nobody kills, and ends it. */
export async function takeReferences(service: ServiceProcess, model: string): Promise<References> {
  const names = new Map<string, string>();
  for (const { name, request } of JOBS) {
    const body = { model, background: true, on_restart: 'retry', ...request };
    const { id } = await service.json<{ id: string }>('POST', '/v1/responses', body);
    names.set(id, name);
  }
  const open = '/v1/tasks?status=queued,loading,running&limit=100';
  const ended = async (): Promise<boolean> => (await service.json<{ data: unknown[] }>('GET', open)).data.length === 0;
  await waitFor('the reference answers', ended, 120_000);
  service.signal('SIGTERM');
  await service.exit();
  const references = new Map<string, Reference>();
  for (const stored of (await readStoreImage(service.dataDir)).tasks.values()) {
    const name = names.get(stored.task.responseId ?? '');
    if (name !== undefined) references.set(name, reference(stored));
  }
  return references;
}

export function reference(stored: StoredTask): Reference {
  const last = stored.events.at(-1);
  const { status, output, usage } = snapshotOf(last?.payload ?? '');
  if (!usage || (status !== 'completed' && status !== 'incomplete')) throw new Error(`a reference answer is ${status}`);
  const deltas = deltasOf(stored);
  return {
    status,
    text: output.flatMap(({ content = [] }) => content.map(({ text }) => text)).join(''),
    usage: {
      input_tokens: usage.input_tokens,
      output_tokens: usage.output_tokens,
      total_tokens: usage.total_tokens,
    },
    tokenIds: tokenIdsOf(stored),
    deltas,
    marks: marksOf(stored),
  };
}

/** Each row of `task_snapshots` says how many tokens were on disk together with which event. */
function marksOf({ snapshots, events }: StoredTask): Mark[] {
  const marks: Mark[] = [{ tokens: 0, deltas: 0 }];
  for (const { lines, lastSequenceNumber } of snapshots) {
    const deltas = events.filter(
      ({ type, sequenceNumber }) => type === 'response.output_text.delta' && sequenceNumber <= lastSequenceNumber,
    );
    marks.push({ tokens: (marks.at(-1)?.tokens ?? 0) + lines.length, deltas: deltas.length });
  }
  return marks;
}
