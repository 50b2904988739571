import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { IsInt } from 'class-validator';
import {
  AnyClient,
  DescribeRoute,
  DomainError,
  ModelAnswers,
  StoreReader,
  type EngineModel,
  type Extension,
  type FilePieces,
  type InferenceEngine,
  type JsonObject,
  type ListedFile,
  type ModelSource,
  type ModelSpec,
  type TaskListener,
  type TaskRecorder,
  type TaskTransition,
  type TaskType,
  type Tx,
  type TypedTaskRun,
} from '../../src/index.js';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { FakeEngine } from './fake-engine.js';

/** An engine that the extension brings: it counts what it is asked to open. */
@Injectable()
export class ShelfEngine implements InferenceEngine {
  readonly name = 'shelf 1';
  readonly opened: string[] = [];
  private readonly engine = new FakeEngine({ tokens: () => ['from ', 'the ', 'shelf'] });

  open(spec: ModelSpec): Promise<EngineModel> {
    this.opened.push(spec.id);
    return this.engine.open(spec);
  }
}

/** Models that lie in folders of this machine; there is one version of each. */
@Injectable()
export class ShelfSource implements ModelSource {
  readonly name = 'shelf';
  static folder = '';

  async commitOf(repository: string): Promise<string> {
    if (repository !== 'shelf/embed') throw new DomainError('model_not_found', 'There is no such model on the shelf.');
    return '0'.repeat(40);
  }

  async list(): Promise<ListedFile[]> {
    const entries = await readdir(ShelfSource.folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return Promise.all(
      files.map(async (file) => {
        const bytes = await readFile(file);
        const hex = createHash('sha256').update(bytes).digest('hex');
        const path = file.slice(ShelfSource.folder.length + 1);
        return { path, sizeBytes: bytes.length, digest: { algorithm: 'sha256' as const, hex } };
      }),
    );
  }

  open(_repository: string, _commit: string, { path }: ListedFile, from: number): Promise<FilePieces> {
    return Promise.resolve({ from, pieces: createReadStream(join(ShelfSource.folder, path), { start: from }) });
  }
}

class CountInput {
  @IsInt()
  to: number;
}

/** Asks the model as often as it is told, and remembers how often it has. */
@Injectable()
export class CountType implements TaskType<CountInput, number> {
  readonly type = 'shelf.count';
  readonly input = CountInput;
  readonly onRestart = 'resume';

  constructor(private readonly answers: ModelAnswers) {}

  async run(run: TypedTaskRun<CountInput, number>): Promise<JsonObject> {
    let last = '';
    for (let done = run.cursor ?? 0; done < run.input.to; done++) {
      const answer = await this.answers.answer({ model: 'pocket', input: `${done}` }, run.clientId, run.signal);
      last = answer.text;
      await run.save(done + 1, [{ word: 'counted', payload: { done: done + 1 } }]);
    }
    return { last };
  }
}

export class CreateLedger1798000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE shelf_ledger (task_id text NOT NULL, status text NOT NULL) STRICT');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE shelf_ledger');
  }
}

@Injectable()
class Ledger implements TaskRecorder {
  async record(tx: Tx, { task, to }: TaskTransition): Promise<void> {
    await tx.execute('INSERT INTO shelf_ledger (task_id, status) VALUES (?, ?)', [task.id, to]);
  }
}

@Injectable()
export class Ears implements TaskListener {
  readonly heardOf: string[] = [];

  heard({ task, to }: TaskTransition): void {
    this.heardOf.push(`${task.type} ${to}`);
  }
}

@Controller('v1/shelf')
class ShelfController {
  constructor(
    private readonly reader: StoreReader,
    private readonly ears: Ears,
  ) {}

  @Get('news')
  @AnyClient()
  @DescribeRoute({
    id: 'getShelfNews',
    summary: 'Tells what was recorded and heard',
    answers: { 200: { description: 'All of it', schema: { type: 'object' } } },
  })
  async news(): Promise<object> {
    const ledger = await this.reader.query('select task_id, status from shelf_ledger order by rowid');
    return { ledger, heard: this.ears.heardOf };
  }
}

@Module({ controllers: [ShelfController] })
class ShelfModule {}

export const shelfExtension: Extension = {
  name: 'shelf',
  version: '2.0.0',
  compatibleWith: '>=0.1.0',
  module: ShelfModule,
  migrations: [CreateLedger1798000000001],
  taskTypes: [CountType],
  recorders: [Ledger],
  listeners: [Ears],
  strategies: { inferenceEngine: ShelfEngine, modelSource: ShelfSource },
};
