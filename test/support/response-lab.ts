import { loadConfig } from '../../src/config/index.js';
import { identifierSuffix } from '../../src/database/index.js';
import type { EngineModel } from '../../src/inference/index.js';
import type { ModelResidency, ModelSeat } from '../../src/models/index.js';
import { Conversations } from '../../src/responses/conversations.js';
import { newResponse } from '../../src/responses/new-response.js';
import { ResponseHandler } from '../../src/responses/response-handler.js';
import type { GenerationRecord, ResponseObject } from '../../src/responses/response-object.js';
import { newRow, ResponseStore, taskIdOf, type ResponseDraft } from '../../src/responses/response-store.js';
import { StoredResponses } from '../../src/responses/stored-responses.js';
import type { OnRestart } from '../../src/tasks/index.js';
import { FakeEngine, type FakeEngineOptions } from './fake-engine.js';
import { TaskLab } from './task-lab.js';

const MODEL = 'fake';

export const GENERATION: GenerationRecord = {
  promptIds: [1, 2, 3],
  seed: 7,
  sampling: {
    temperature: 0,
    topK: 0,
    topP: 1,
    minP: 0,
    repetitionPenalty: 1,
    presencePenalty: 0,
    frequencyPenalty: 0,
    logitBias: {},
  },
  stop: [],
  maxOutputTokens: 1000,
  modelDigest: 'sha256:0',
};

/** Seats on one loaded model of a fake engine. */
class OneModel {
  readonly listeners: ((model: string) => void)[] = [];
  model: EngineModel | null = null;
  taken = 0;
  /** What a seat has to wait for, or null where the model is resident; asked for each seat. */
  loading: () => Promise<void> | null = () => null;

  constructor(
    readonly engine: FakeEngine,
    private readonly rows: number,
    private readonly digest: string,
  ) {}

  async load(): Promise<void> {
    this.model = await this.engine.open({
      id: MODEL,
      directory: '/',
      graphFile: '',
      rows: this.rows,
      threads: 1,
      digest: this.digest,
    });
    void this.model.gone.then(() => (this.model = null));
  }

  seat(): ModelSeat | null {
    const { model } = this;
    if (!model || this.taken === this.rows) return null;
    this.taken += 1;
    let held = true;
    const release = (): void => {
      if (held) this.taken -= 1;
      held = false;
      for (const listener of this.listeners) listener(MODEL);
    };
    const loading = this.loading();
    const ready = loading ? loading.then(() => model) : Promise.resolve(model);
    const encoder = new Promise<never>(() => undefined);
    return {
      owner: model.incarnation,
      resident: loading === null,
      model: ready,
      encoder,
      loadFraction: 1,
      keepLoaded: () => undefined,
      release,
    };
  }

  onSeatFree(listener: (model: string) => void): void {
    this.listeners.push(listener);
  }
}

export interface ResponseLabOptions extends FakeEngineOptions {
  rows?: number;
  /** Of the model's files as registered. */
  digest?: string;
}

export interface ResponseOptions {
  background?: boolean;
  onRestart?: OnRestart;
  generation?: Partial<GenerationRecord>;
}

/** Responses as tasks on a real store and a fake engine, without HTTP. */
export class ResponseLab {
  readonly store: ResponseStore;
  readonly conversations: Conversations;
  readonly responses: StoredResponses;
  private readonly handler: ResponseHandler;

  private constructor(
    readonly tasks: TaskLab,
    readonly engine: FakeEngine,
    readonly models: OneModel,
  ) {
    const { store, lifecycle, cancellation } = tasks;
    this.store = new ResponseStore(store.reader);
    this.conversations = new Conversations(store.reader, loadConfig({}));
    this.responses = new StoredResponses(this.store, store.units, lifecycle, cancellation, this.conversations);
    const residency = models as unknown as ModelResidency;
    this.handler = new ResponseHandler(tasks.handlers, tasks.runner, residency, this.store, loadConfig({}));
    this.handler.onModuleInit();
  }

  static async open(options: ResponseLabOptions = {}, env: Record<string, string> = {}): Promise<ResponseLab> {
    return ResponseLab.on(await TaskLab.open(env), options);
  }

  private static async on(tasks: TaskLab, { digest, rows, ...options }: ResponseLabOptions): Promise<ResponseLab> {
    const engine = new FakeEngine(options);
    const models = new OneModel(engine, rows ?? 8, digest ?? GENERATION.modelDigest);
    await models.load();
    return new ResponseLab(tasks, engine, models);
  }

  /** What the next process finds; this one is closed. */
  async reopened(options: ResponseLabOptions = {}): Promise<ResponseLab> {
    return ResponseLab.on(await this.tasks.reopened(), { vocabulary: this.engine.vocabulary, ...options });
  }

  close(): Promise<void> {
    this.engine.release();
    return this.tasks.close();
  }

  /** Row 1; answers with the id of the response. */
  async create({ background = true, onRestart = 'retry', generation = {} }: ResponseOptions = {}): Promise<string> {
    const suffix = identifierSuffix();
    const response = this.draft(`resp_${suffix}`, onRestart, { ...GENERATION, ...generation });
    const draft = this.tasks.draft({
      id: taskIdOf(response.body.id),
      type: this.handler.type,
      responseId: response.body.id,
      model: MODEL,
      onRestart,
      background,
      view: JSON.stringify({ response: response.body }),
    });
    await this.tasks.write(async (tx) => {
      await this.store.insert(tx, [newRow(response)]);
      await this.tasks.lifecycle.enqueue(tx, [draft]);
    });
    return response.body.id;
  }

  async ended(id: string): Promise<ResponseObject> {
    await this.tasks.stream.ended(taskIdOf(id), new AbortController().signal);
    return this.body(id);
  }

  async body(id: string): Promise<ResponseObject> {
    const found = await this.store.find(id, 'cli_test');
    if (!found) throw new Error(`no response ${id}`);
    return found.body;
  }

  private draft(id: string, onRestart: OnRestart, generation: GenerationRecord): ResponseDraft {
    const decided = {
      id,
      taskId: taskIdOf(id),
      model: MODEL,
      onRestart,
      metadata: {},
      seed: generation.seed,
      sampling: generation.sampling,
      tools: { tools: [], choice: 'auto' as const },
      createdAt: Date.now(),
    };
    const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }];
    return { clientId: 'cli_test', body: newResponse({} as never, decided), input, references: [], generation };
  }
}
