import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../../config/index.js';
import { StoreReader } from '../../database/index.js';
import { TaskHandlers } from '../task-handlers.js';
import { TaskRunner } from '../task-runner.js';
import { ON_RESTART_POLICIES } from '../task-transitions.js';
import { TaskTypeHandler } from './task-type-handler.js';
import type { TaskType } from './task-type.js';

const NAME = /^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$/;
const LONGEST_NAME = 64;
/** First words of the service's own types and events. */
const RESERVED: readonly string[] = ['response', 'error', 'task', 'model'];
const MOST_SEATS = 64;

type AnyTypeHandler = TaskTypeHandler<object, unknown>;

/** The task types of extensions. */
@Injectable()
export class TaskTypes {
  private readonly byName = new Map<string, AnyTypeHandler>();

  constructor(
    private readonly handlers: TaskHandlers,
    private readonly runner: TaskRunner,
    private readonly reader: StoreReader,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * From now on `POST /v1/tasks` takes the type, and its unfinished tasks run. Call it before the service lets work in
   * (`onModuleInit` of a module is early enough). Throws TaskTypeTaken, which names both sides, and an Error for a type
   * that cannot be: name, concurrency, time limit or policy. What was accepted before stays when the type is gone at a
   * later start: it waits, and can be cancelled.
   *
   * @param owner name of the extension
   */
  register<Input extends object, Cursor>(owner: string, type: TaskType<Input, Cursor>): void {
    // One that is taken is told by whom.
    const fault = this.handlers.find(type.type) ? null : faultOf(type);
    if (fault !== null) throw new Error(`${owner}: task type "${type.type}" ${fault}`);
    const handler = new TaskTypeHandler(type, {
      reader: this.reader,
      config: this.config,
      freed: (name) => this.runner.wake(name, null),
    });
    this.handlers.register(handler, owner);
    this.byName.set(type.type, handler);
  }

  /** Null: no extension has registered it. */
  find(name: string): AnyTypeHandler | null {
    return this.byName.get(name) ?? null;
  }

  names(): string[] {
    return [...this.byName.keys()].sort();
  }
}

/** What is wrong with a type; null: nothing. */
function faultOf({ type, concurrency = 1, timeLimitSeconds = 0, onRestart = 'fail' }: TaskType): string | null {
  if (!NAME.test(type) || type.length > LONGEST_NAME) {
    return `must be words of a-z, 0-9 and _ joined by dots, ${LONGEST_NAME} characters at most`;
  }
  const [first = ''] = type.split('.');
  if (RESERVED.includes(first)) return `begins with "${first}", which is the service's own`;
  if (!isWhole(concurrency, 1, MOST_SEATS)) return `must have a concurrency of 1 to ${MOST_SEATS}`;
  if (!isWhole(timeLimitSeconds, 0, Number.MAX_SAFE_INTEGER)) return 'must have a whole time limit in seconds, or 0';
  if (!ON_RESTART_POLICIES.includes(onRestart))
    return `must have one of ${ON_RESTART_POLICIES.join(', ')} for restarts`;
  return null;
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}
