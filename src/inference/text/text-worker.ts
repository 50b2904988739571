/** Entry of a text worker, a child process: chat templates and tokenizing, one prompt at a time. */
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

async function perform(job: TextJob, limitMs: number): Promise<TextResult> {
  try {
    const model = await openModelText(job.directory);
    return { value: within(limitMs, () => valueOf(model, job)) };
  } catch (error) {
    const { code, param } = error instanceof DomainError ? error : { code: 'server_error' as const, param: null };
    return { error: { code, message: (error as Error).message, param } };
  }
}

process.on('message', ({ job, limitMs }: ToTextWorker) => {
  void perform(job, limitMs).then((result) => process.send?.(result, undefined, undefined, () => undefined));
});
