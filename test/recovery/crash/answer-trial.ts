import { rm } from 'node:fs/promises';
import { Random } from '../../support/random.js';
import { runnersOf } from '../../support/runners.js';
import { registerPocketQ4 } from '../../support/second-model.js';
import { ServiceProcess } from '../../support/service-process.js';
import { temporaryDirectory } from '../../support/store.js';
import { readStoreImage, type StoredTask } from '../../support/store-image.js';
import { waitFor } from '../../support/wait-for.js';
import type { ModelName } from './campaign.js';
import { reference, type Reference } from './reference.js';

export interface TrialOptions {
  kills: number;
  seed: number;
  model: ModelName;
  /** Answers under way at each kill. */
  streams: number;
  victim: 'service' | 'runner';
  /** `json`: held to a schema. */
  form?: 'text' | 'json';
  env?: Record<string, string>;
}

/** What an answer that was cut off came to. */
export interface TrialFigures {
  kills: number;
  answers: number;
  /** Text, items, usage and token ids are those of the lone run that nobody killed. */
  equal: number;
  /** Answers that went on behind tokens on disk. */
  resumed: number;
  replayedTokens: number;
  /** How the others differ. */
  differences: string[];
}

type Request = { input: string; temperature: number; seed: number; max_output_tokens: number; text?: object };

/** Greedy and drawn, each longer than the time a kill takes to come. */
const REQUESTS: readonly Request[] = [0, 1, 2, 3, 4, 5, 6, 7].map((seed) => ({
  input: seed % 2 === 0 ? 'I want a long story about a dog.' : 'Tell me a long story about a bear.',
  temperature: seed < 2 ? 0 : 0.8,
  seed,
  max_output_tokens: 200,
}));
const WORDS = { type: 'array', items: { type: 'string', maxLength: 16 }, minItems: 8, maxItems: 12 };
const SCHEMA = { type: 'object', properties: { words: WORDS, age: { type: 'integer' } }, required: ['words', 'age'] };
/** Objects that a kill finds open. */
const JSON_REQUESTS = REQUESTS.map((request) => ({
  ...request,
  text: { format: { type: 'json_schema', name: 'words', schema: SCHEMA } },
}));
const END_MS = 240_000;
const OPEN = '/v1/tasks?status=queued,loading,running,cancelling&limit=100';

interface OpenTask {
  id: string;
  attempt: number;
  last_sequence_number: number;
}

/** Cuts answers off at random tokens, by the death of the service or of the model's process, and compares them (BL-27). */
export class AnswerTrial {
  private readonly random: Random;
  /** Which request each response was made by. */
  private readonly asked = new Map<string, Request>();
  private readonly requests: readonly Request[];

  private constructor(
    private readonly options: TrialOptions,
    private readonly dataDir: string,
    private readonly references: ReadonlyMap<Request, Reference>,
    private service: ServiceProcess,
  ) {
    this.random = new Random(options.seed);
    this.requests = [...references.keys()];
  }

  static async run(options: TrialOptions): Promise<TrialFigures> {
    const references = await loneAnswers(options);
    const dataDir = await storeFor(options.model);
    const trial = new AnswerTrial(options, dataDir, references, await start(options, dataDir));
    try {
      await (options.victim === 'service' ? trial.killServices() : trial.killRunners());
      return await trial.compare();
    } finally {
      await trial.service.dispose();
    }
  }

  private async killServices(): Promise<void> {
    for (let kill = 0; kill < this.options.kills; kill += 1) {
      const first = await this.ask();
      const tokens = this.references.get(this.asked.get(first)!)!.tokenIds.length;
      await this.reaches(first, this.random.between(1, tokens - 20));
      await this.service.kill();
      this.service = await start(this.options, this.dataDir);
      await this.allEnd();
    }
  }

  /** Each kill comes after a step that the one before did not see. */
  private async killRunners(): Promise<void> {
    for (let kill = 0; kill < this.options.kills;) {
      if ((await this.open()).length === 0) await this.ask();
      const [pid] = await runnersOf(this.dataDir);
      if (pid === undefined || !(await this.stepsOn(pid))) continue;
      process.kill(pid, 'SIGKILL');
      kill += 1;
      await waitFor('the loss', async () => !(await runnersOf(this.dataDir)).includes(pid), END_MS);
    }
    await this.allEnd();
  }

  /** Resolves with true once a task has made a step in its present attempt, which this runner works on. */
  private async stepsOn(pid: number): Promise<boolean> {
    const first = new Map((await this.open()).map((task) => [task.id, task]));
    const seen = await waitFor(
      'a new step',
      async () => {
        const open = await this.open();
        if (open.length === 0 || !(await runnersOf(this.dataDir)).includes(pid)) return 'over';
        for (const task of open) {
          const before = first.get(task.id);
          // What was numbered before the attempt was seen may be the loss, or an earlier step.
          if (before?.attempt !== task.attempt) first.set(task.id, task);
          else if (task.last_sequence_number > before.last_sequence_number + 1) return 'stepped';
        }
        return null;
      },
      END_MS,
    );
    return seen === 'stepped';
  }

  /** Starts as many answers as the trial has streams; resolves with the id of the first. */
  private async ask(): Promise<string> {
    const ids: string[] = [];
    const offset = this.random.between(0, this.requests.length - 1);
    for (let i = 0; i < this.options.streams; i += 1) {
      const request = this.requests[(offset + i) % this.requests.length]!;
      const body = { model: this.options.model, background: true, on_restart: 'resume', ...request };
      const { id } = await this.service.json<{ id: string }>('POST', '/v1/responses', body);
      this.asked.set(id, request);
      ids.push(id);
    }
    return ids[0]!;
  }

  /** Resolves when so many deltas of the response are on disk, or when it has ended before. */
  private async reaches(id: string, deltas: number): Promise<void> {
    const response = await this.service.request('GET', `/v1/responses/${id}?stream=true`);
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.split('event: response.output_text.delta').length > deltas) break;
    }
  }

  private async open(): Promise<OpenTask[]> {
    return (await this.service.json<{ data: OpenTask[] }>('GET', OPEN)).data;
  }

  private async allEnd(): Promise<void> {
    await waitFor('all answers', async () => (await this.open()).length === 0, END_MS);
  }

  private async compare(): Promise<TrialFigures> {
    this.service.signal('SIGTERM');
    await this.service.exit();
    const { tasks } = await readStoreImage(this.dataDir);
    const figures: TrialFigures = {
      kills: this.options.kills,
      answers: this.asked.size,
      equal: 0,
      resumed: 0,
      replayedTokens: 0,
      differences: [],
    };
    for (const [id, request] of this.asked) {
      const stored = [...tasks.values()].find(({ task }) => task.responseId === id);
      const difference = stored ? differenceOf(stored, this.references.get(request)!) : 'lost';
      if (difference === null) figures.equal += 1;
      else figures.differences.push(`${id}: ${difference}`);
      const { lmsp } = JSON.parse(stored?.response?.body ?? '{"lmsp":{}}') as { lmsp: { replayed_tokens?: number } };
      figures.replayedTokens += lmsp.replayed_tokens ?? 0;
      if (lmsp.replayed_tokens) figures.resumed += 1;
    }
    return figures;
  }
}

/** Null: equal. Deltas may be cut at other places, so only their sum is compared, with all the rest. */
function differenceOf(stored: StoredTask, expected: Reference): string | null {
  if (stored.task.status !== 'completed') return `${stored.task.status} ${stored.task.error?.code ?? ''}`;
  const { status, text, usage, tokenIds, deltas } = reference(stored);
  const seen = { status, text, usage, tokenIds, deltas: deltas.join('') };
  const wanted = { ...expected, deltas: expected.deltas.join('') };
  for (const key of ['status', 'text', 'usage', 'tokenIds'] as const) {
    if (JSON.stringify(seen[key]) !== JSON.stringify(wanted[key])) return `${key} differs`;
  }
  return null;
}

async function storeFor(model: ModelName): Promise<string> {
  const dataDir = await temporaryDirectory();
  if (model === 'pocket-q4') await registerPocketQ4(dataDir);
  return dataDir;
}

function start({ env = {} }: TrialOptions, dataDir: string): Promise<ServiceProcess> {
  return ServiceProcess.start({ dataDir, env: { LMSP_LOG_LEVEL: 'error', LMSP_THREADS: '1', ...env } });
}

/** What each request is answered when it runs alone and nobody kills anything. */
async function loneAnswers(options: TrialOptions): Promise<Map<Request, Reference>> {
  const dataDir = await storeFor(options.model);
  const service = await start(options, dataDir);
  try {
    const names = new Map<string, Request>();
    for (const request of options.form === 'json' ? JSON_REQUESTS : REQUESTS) {
      const { id } = await service.json<{ id: string }>('POST', '/v1/responses', { model: options.model, ...request });
      names.set(id, request);
    }
    service.signal('SIGTERM');
    await service.exit();
    const { tasks } = await readStoreImage(dataDir);
    const answers = new Map<Request, Reference>();
    for (const stored of tasks.values()) {
      const request = names.get(stored.task.responseId ?? '');
      if (request) answers.set(request, reference(stored));
    }
    return answers;
  } finally {
    await service.dispose();
    await rm(dataDir, { recursive: true, force: true });
  }
}
