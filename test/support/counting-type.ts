import { IsInt, IsOptional, IsString, Max, Min } from 'class-validator';
import type { JsonObject, OnRestart, TaskType, TypedTaskRun } from '../../src/tasks/index.js';

export class CountInput {
  @IsInt()
  @Min(1)
  @Max(1000)
  upTo: number;

  @IsOptional()
  @IsString()
  label?: string | null;
}

export interface Count {
  done: number;
}

/** A task type whose steps are numbers: each is done, then saved. What it does is noted, as an effect outside would be. */
export class CountingType implements TaskType<CountInput, Count> {
  readonly input = CountInput;
  concurrency = 2;
  onRestart?: OnRestart;
  /** Steps as they were begun, `task:number`, in every process that shares the list. */
  readonly begun: string[] = [];
  readonly runs: TypedTaskRun<CountInput, Count>[] = [];
  /** Called before each step; may wait or throw. */
  before: (run: TypedTaskRun<CountInput, Count>, step: number) => void | Promise<void> = () => undefined;

  constructor(readonly type = 'test.count') {}

  async run(run: TypedTaskRun<CountInput, Count>): Promise<JsonObject | null> {
    this.runs.push(run);
    for (let step = (run.cursor?.done ?? 0) + 1; step <= run.input.upTo; step += 1) {
      await this.before(run, step);
      run.signal.throwIfAborted();
      this.begun.push(`${run.taskId}:${step}`);
      run.progress({ phase: 'counting', fraction: step / run.input.upTo });
      await run.save({ done: step }, [{ word: 'counted', payload: { number: step } }]);
    }
    return { counted: run.input.upTo };
  }
}
