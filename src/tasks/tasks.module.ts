import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { ConfigModule } from '../config/index.js';
import { HttpModule } from '../http/index.js';
import { NoticesModule } from '../notices/index.js';
import { ActiveRuns } from './active-run.js';
import { AdmissionControl } from './admission-policy.js';
import { EventFeed } from './event-feed.js';
import { IdempotencyKeys } from './idempotency-keys.js';
import { KeyRetention } from './key-retention.js';
import { OwnerSweep } from './owner-sweep.js';
import { RevokedWork } from './revoked-work.js';
import { RunnerLoss } from './runner-loss.js';
import { TaskCancellation } from './task-cancellation.js';
import { TaskClaims } from './task-claims.js';
import { TaskEventStream } from './task-event-stream.js';
import { TaskEventsController } from './task-events.controller.js';
import { TaskEnd } from './task-end.js';
import { TaskExecution } from './task-execution.js';
import { TaskHandlers } from './task-handlers.js';
import { TaskJournal } from './task-journal.js';
import { QueueTimeout } from './queue-timeout.js';
import { TaskLifecycleService } from './task-lifecycle.service.js';
import { TaskObjects } from './task-objects.js';
import { TaskQueries } from './task-queries.js';
import { TaskRecovery } from './task-recovery.js';
import { TaskRetention } from './task-retention.js';
import { TaskRunner } from './task-runner.js';
import { TaskSettlement } from './task-settlement.js';
import { TaskStart } from './task-start.js';
import { TaskStop } from './task-stop.js';
import { TasksController } from './tasks.controller.js';

const published = [
  AdmissionControl,
  IdempotencyKeys,
  QueueTimeout,
  RevokedWork,
  TaskHandlers,
  TaskLifecycleService,
  TaskCancellation,
  TaskEventStream,
  TaskQueries,
  TaskRecovery,
  TaskRunner,
  TaskStop,
];

export interface TasksModuleOptions {
  /** The modules that give UnitOfWork and StoreReader, the clock of expiry, and the client guard's needs. */
  imports: NonNullable<ModuleMetadata['imports']>;
}

/** Tasks of every type: their lifecycle, event log, execution and recovery. Knows no engine and no model. */
@Module({})
export class TasksModule {
  static register({ imports }: TasksModuleOptions): DynamicModule {
    return {
      module: TasksModule,
      imports: [ConfigModule, NoticesModule, HttpModule, ...imports],
      controllers: [TaskEventsController, TasksController],
      providers: [
        ...published,
        ActiveRuns,
        EventFeed,
        KeyRetention,
        OwnerSweep,
        RunnerLoss,
        TaskClaims,
        TaskEnd,
        TaskExecution,
        TaskJournal,
        TaskObjects,
        TaskRetention,
        TaskSettlement,
        TaskStart,
      ],
      exports: published,
    };
  }
}
