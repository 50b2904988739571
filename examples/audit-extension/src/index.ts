import { Controller, Get, Inject, Injectable, Module, Query } from '@nestjs/common';
import {
  DescribeRoute,
  EXTENSION_SETTINGS,
  RequireScope,
  StoreReader,
  TimedRows,
  whole,
  type Extension,
  type SettingValues,
  type TaskRecorder,
  type TaskTransition,
  type Tx,
} from 'lmsp-service';
import { Column, Entity, PrimaryGeneratedColumn, type MigrationInterface, type QueryRunner } from 'typeorm';

const SETTINGS = { keepDays: whole(365, { min: 1, max: 3650 }, 'Days for which rows of task_audit_rows are kept.') };

@Entity('task_audit_rows')
export class TaskAudit {
  @PrimaryGeneratedColumn({ type: 'integer', name: 'id' }) id!: number;
  @Column({ type: 'text', name: 'task_id' }) taskId!: string;
  @Column({ type: 'text', name: 'client_id' }) clientId!: string;
  @Column({ type: 'text', name: 'command' }) command!: string;
  @Column({ type: 'text', name: 'status' }) status!: string;
  @Column({ type: 'integer', name: 'at' }) at!: number;
}

export class CreateTaskAudit1797000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE TABLE task_audit_rows (id integer PRIMARY KEY AUTOINCREMENT, task_id text NOT NULL,
      client_id text NOT NULL, command text NOT NULL, status text NOT NULL, at integer NOT NULL) STRICT`);
    await runner.query('CREATE INDEX task_audit_rows_at ON task_audit_rows (at)');
  }

  readonly down = (runner: QueryRunner): Promise<unknown> => runner.query('DROP TABLE task_audit_rows');
}

/** In the transaction of the change itself: there is no change without its row, and no row without its change. */
@Injectable()
class TaskAuditRecorder implements TaskRecorder {
  async record(tx: Tx, { task, command, to, at }: TaskTransition): Promise<void> {
    await tx.manager.insert(TaskAudit, { taskId: task.id, clientId: task.clientId, command, status: to, at });
  }
}

@Injectable()
class TaskAuditRetention extends TimedRows {
  readonly kind = 'task audit rows';
  readonly countsFrom = 'at';
  readonly keepSeconds = this.settings.keepDays * 86_400;
  protected readonly table = { name: 'task_audit_rows', key: 'id', rowBytes: 120 };

  constructor(@Inject(EXTENSION_SETTINGS) private readonly settings: SettingValues<typeof SETTINGS>) {
    super();
  }
}

@Controller('v1/task-audit')
class TaskAuditController {
  constructor(private readonly reader: StoreReader) {}

  @Get()
  @RequireScope('task-audit:read')
  @DescribeRoute({ id: 'listTaskAudit', summary: 'Changes of a task', answers: { 200: { description: 'Rows' } } })
  rows(@Query('task_id') taskId: string): Promise<TaskAudit[]> {
    return this.reader.manager.find(TaskAudit, { where: { taskId: `${taskId}` }, order: { id: 'ASC' }, take: 1000 });
  }
}

@Module({ controllers: [TaskAuditController] })
class TaskAuditModule {}

export const extension: Extension = {
  name: 'task-audit',
  version: '1.0.0',
  compatibleWith: '^0.1.0',
  module: TaskAuditModule,
  entities: [TaskAudit],
  migrations: [CreateTaskAudit1797000000000],
  recorders: [TaskAuditRecorder],
  retentionRules: [TaskAuditRetention],
  scopes: { 'task-audit:read': 'see what happened to tasks' },
  configKeys: SETTINGS,
};
