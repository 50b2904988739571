import { appendFile } from 'node:fs/promises';
import { Inject, Injectable, Module } from '@nestjs/common';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import {
  EXTENSION_SETTINGS,
  ModelAnswers,
  optionalFile,
  type Extension,
  type JsonObject,
  type SettingValues,
  type TaskType,
  type TypedTaskRun,
} from 'lmsp-service';

const SETTINGS = {
  ledgerFile: optionalFile('File that gets a line for each model call, by its key; none by default.'),
};

class SummariseInput {
  @IsString()
  @MaxLength(100_000)
  text!: string;

  @IsOptional()
  @IsString()
  model?: string;
}

/** The summaries of the parts that are done. */
type Summaries = readonly string[];

/** Summarises each paragraph of a text, and then the summaries: one model call is one step. */
@Injectable()
export class SummariseType implements TaskType<SummariseInput, Summaries> {
  readonly type = 'summarise.document';
  readonly input = SummariseInput;
  readonly onRestart = 'resume';
  readonly concurrency = 2;

  constructor(
    private readonly models: ModelAnswers,
    @Inject(EXTENSION_SETTINGS) private readonly settings: SettingValues<typeof SETTINGS>,
  ) {}

  async run(run: TypedTaskRun<SummariseInput, Summaries>): Promise<JsonObject> {
    const parts = run.input.text.split(/\n\s*\n/).filter((part) => part.trim() !== '');
    let summaries = run.cursor ?? [];
    for (const part of parts.slice(summaries.length)) {
      run.progress({ phase: 'reading', fraction: summaries.length / (parts.length + 1) });
      summaries = [...summaries, await this.summarise(run, part)];
      await run.save(summaries, [{ word: 'part', payload: { done: summaries.length, of: parts.length } }]);
    }
    run.progress({ phase: 'summing up', fraction: parts.length / (parts.length + 1) });
    return { parts: parts.length, summary: await this.summarise(run, summaries.join('\n')) };
  }

  private async summarise(run: TypedTaskRun<SummariseInput, Summaries>, text: string): Promise<string> {
    await this.book(run.effectKey);
    const question = { model: run.input.model ?? 'pocket', input: `Summarise: ${text}`, temperature: 0, seed: 0 };
    return (await this.models.answer(question, run.clientId, run.signal)).text;
  }

  /** An effect outside of the service: a step that is done again does it again, and its key tells that it is the same. */
  private async book(key: string): Promise<void> {
    if (this.settings.ledgerFile !== '') await appendFile(this.settings.ledgerFile, `${key}\n`);
  }
}

@Module({})
class SummariseModule {}

export const extension: Extension = {
  name: 'summarise',
  version: '1.0.0',
  compatibleWith: '^0.1.0',
  module: SummariseModule,
  taskTypes: [SummariseType],
  configKeys: SETTINGS,
};
