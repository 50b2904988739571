import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ModelObject, TaskObject } from '../api-objects.js';
import { EXIT } from '../exit-codes.js';
import { sizeText, timeText } from '../human-text.js';
import { printList, printObject, type Columns, type List } from '../listing.js';
import { confirm } from '../question.js';
import type { Session } from '../session.js';
import { tail } from './tail.js';

const POLL_MS = 100;

const COLUMNS: Columns<ModelObject> = {
  MODEL: ({ id }) => id,
  TYPE: ({ lmsp }) => lmsp.type,
  STATE: ({ lmsp }) => lmsp.error?.code ?? lmsp.state,
  SIZE: ({ lmsp }) => sizeText(lmsp.size_bytes),
  CONTEXT: ({ lmsp }) => lmsp.context_length,
  ALIASES: ({ lmsp }) => lmsp.aliases.join(', ') || null,
};

/** `lmsp ls`, `lmsp ps`. */
export async function listModels(session: Session, { loaded }: { loaded?: boolean }): Promise<number> {
  const list = await session.api.json<List<ModelObject>>('GET', '/v1/models');
  const data = loaded === true ? list.data.filter(({ lmsp }) => /^load(ed|ing)$/.test(lmsp.state)) : list.data;
  await printList(session, { ...list, data }, loaded === true ? loadedColumns(session) : COLUMNS);
  return EXIT.done;
}

export async function showModel(session: Session, id: string): Promise<number> {
  print(session, await session.api.json<ModelObject>('GET', `/v1/models/${encodeURIComponent(id)}`));
  return EXIT.done;
}

export async function loadModel(session: Session, model: string): Promise<number> {
  print(session, await session.api.json<ModelObject>('POST', '/v1/models/load', { body: { model }, isLong: true }));
  return EXIT.done;
}

export async function unloadModel(session: Session, model: string): Promise<number> {
  print(session, await session.api.json<ModelObject>('POST', '/v1/models/unload', { body: { model }, isLong: true }));
  return EXIT.done;
}

export interface AddOptions {
  id: string;
  type: string;
  dtype?: string;
  layout?: string;
  contextLength?: number;
  activations?: string;
  provider?: string;
  device?: number;
  alias?: string[];
  wait: boolean;
}

/** `lmsp models add`: the folder is on the machine of the service; waits until its files were read. */
export async function addModel(session: Session, path: string, options: AddOptions): Promise<number> {
  const { id, type, dtype, layout, contextLength, activations, alias, wait } = options;
  const source = { type: 'directory', path: resolve(path) };
  const computation = { activations, execution_provider: options.provider, device_id: options.device };
  const body = { id, type, source, dtype, layout, context_length: contextLength, aliases: alias, ...computation };
  let model = await session.api.json<ModelObject>('POST', '/v1/models', { body });
  while (wait && model.lmsp.state === 'verifying') {
    await delay(POLL_MS);
    model = await session.api.json<ModelObject>('GET', `/v1/models/${encodeURIComponent(id)}`);
  }
  print(session, model);
  return model.lmsp.error === null ? EXIT.done : EXIT.failed;
}

export interface PullOptions {
  revision?: string;
  id?: string;
  dtype?: string;
}

/** `lmsp models pull`: makes the task and follows it to its end, then shows the model; Ctrl-C leaves it to go on. */
export async function pullModel(session: Session, repository: string, options: PullOptions): Promise<number> {
  const { revision, id, dtype } = options;
  const body = { repository, revision, id, dtype };
  const task = await session.api.json<TaskObject>('POST', '/v1/models/pull', { body });
  const exit = await tail(session, task.id, {});
  return session.terminal.format === 'table' ? showModel(session, id ?? repository) : exit;
}

/** `lmsp models rm`: the service forgets the model; its files stay. */
export async function removeModel(session: Session, id: string): Promise<number> {
  await confirm(session, `Forget the model ${id}? Its files stay.`);
  const path = `/v1/models/${encodeURIComponent(id)}`;
  printObject(session, await session.api.json<object>('DELETE', path), { forgotten: id });
  return EXIT.done;
}

function loadedColumns({ options }: Session): Columns<ModelObject> {
  return {
    MODEL: ({ id }) => id,
    STATE: ({ lmsp }) => lmsp.state,
    SIZE: ({ lmsp }) => sizeText(lmsp.size_bytes),
    MEMORY: ({ lmsp }) => sizeText(lmsp.memory_bytes),
    LOADED: ({ lmsp }) => timeText(lmsp.loaded_at, options.time),
    UNLOADS: ({ lmsp }) => timeText(lmsp.unloads_at, options.time),
  };
}

function print(session: Session, model: ModelObject): void {
  const { lmsp } = model;
  printObject(session, model, {
    model: model.id,
    type: lmsp.type,
    state: lmsp.state,
    error: lmsp.error && `${lmsp.error.message} (${lmsp.error.code})`,
    size: sizeText(lmsp.size_bytes),
    context: lmsp.context_length,
    aliases: lmsp.aliases.join(', '),
    loaded: timeText(lmsp.loaded_at, session.options.time),
    memory: sizeText(lmsp.memory_bytes),
    pinned: lmsp.pinned ? 'true' : null,
    unloads: timeText(lmsp.unloads_at, session.options.time),
    activations: lmsp.activations,
    'runs on': lmsp.execution_provider.used ?? lmsp.execution_provider.requested,
    'exact resume': lmsp.exact && String(lmsp.exact.resume),
    'batch invariant': lmsp.exact && String(lmsp.exact.batch_invariant),
    digest: lmsp.digest,
  });
}
