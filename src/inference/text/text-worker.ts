/** Entry of a text worker, a child process: chat templates and tokenizing, one message of prompts at a time. */
import { createContext, Script } from 'node:vm';
import { DomainError } from '../../errors/index.js';
import { endWithParent } from '../process/end-with-parent.js';
import { checkConstraint } from './check-constraint.js';
import { decode, encode, encodeChat, openModelText, type ModelText } from './model-text.js';
import type { TextJob, TextResult, TextValue, ToTextWorker } from './text-protocol.js';

endWithParent();

const box = createContext({ work: undefined as unknown });
const script = new Script('work()');

/**
 * Calls `work` with a limit that holds in an endless loop too. The service ends a slow worker itself; this limit is
 * for a service that was killed meanwhile, whose worker would never come to read that its channel is gone.
 */
function within<T>(limitMs: number, work: () => T): T {
  box['work'] = work;
  return script.runInContext(box, { timeout: limitMs }) as T;
}

function valueOf(model: ModelText, job: TextJob): TextValue {
  switch (job.kind) {
    case 'chat':
      return encodeChat(model, job);
    case 'decode':
      return decode(model, job.tokens);
    case 'constraint':
      checkConstraint(model.content, job);
      return null;
    default:
      return encode(model, job);
  }
}

async function perform(jobs: readonly TextJob[], limitMs: number): Promise<TextResult[]> {
  const models = new Map<string, Promise<ModelText>>();
  for (const { directory } of jobs) if (!models.has(directory)) models.set(directory, openModelText(directory));
  const opened = await Promise.all(jobs.map(({ directory }) => models.get(directory)!.catch(failed)));
  try {
    return within(limitMs, () => jobs.map((job, i) => resultOf(opened[i]!, job)));
  } catch (error) {
    return jobs.map(() => failed(error));
  }
}

function resultOf(model: ModelText | Failure, job: TextJob): TextResult {
  if ('error' in model) return model;
  try {
    return { value: valueOf(model, job) };
  } catch (error) {
    return failed(error);
  }
}

type Failure = Extract<TextResult, { error: object }>;

function failed(error: unknown): Failure {
  const { code, param } = error instanceof DomainError ? error : { code: 'server_error' as const, param: null };
  return { error: { code, message: (error as Error).message, param } };
}

process.on('message', ({ jobs, limitMs }: ToTextWorker) => {
  void perform(jobs, limitMs).then((results) => process.send?.(results, undefined, undefined, () => undefined));
});
