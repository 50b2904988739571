import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { ConfigModule } from '../config/index.js';
import { HttpModule } from '../http/index.js';
import { NoticesModule } from '../notices/index.js';
import { AcceptedTasks } from './accepted-tasks.js';
import { ActiveRuns } from './active-run.js';
import { AdmissionControl } from './admission-policy.js';
import { CreateTaskController } from './create-task.controller.js';
import { EventFeed } from './event-feed.js';
import { TaskHooks } from './hooks/task-hooks.js';
import { TaskListeners } from './hooks/task-listeners.js';
import { TaskRecorders } from './hooks/task-recorders.js';
import { TaskUnits } from './hooks/task-units.js';
import { IdempotencyKeys } from './idempotency-keys.js';
import { KeyRetention } from './key-retention.js';
import { OwnerSweep } from './owner-sweep.js';
import { QueueCounts } from './queue-counts.js';
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
import { QueueLimits } from './queue-limits.js';
import { QueueTimeout } from './queue-timeout.js';
import { TaskLifecycleService } from './task-lifecycle.service.js';
import { TaskNews } from './task-news.js';
import { TaskObjects } from './task-objects.js';
import { TaskQueries } from './task-queries.js';
import { TaskRecovery } from './task-recovery.js';
import { TaskRetention } from './task-retention.js';
import { TaskRunner } from './task-runner.js';
import { TaskSettlement } from './task-settlement.js';
import { TaskStart } from './task-start.js';
import { TaskStop } from './task-stop.js';
import { TasksController } from './tasks.controller.js';
import { TaskAcceptance } from './types/task-acceptance.js';
import { TaskRequests } from './types/task-requests.js';
import { TaskTypes } from './types/task-types.js';

const published = [
  AdmissionControl,
  AcceptedTasks,
  IdempotencyKeys,
  QueueLimits,
  QueueTimeout,
  RevokedWork,
  TaskHandlers,
  TaskLifecycleService,
  TaskListeners,
  TaskRecorders,
  TaskUnits,
  TaskCancellation,
  TaskEventStream,
  TaskQueries,
  TaskRecovery,
  TaskRunner,
  TaskStop,
  TaskTypes,
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
      controllers: [CreateTaskController, TaskEventsController, TasksController],
      providers: [
        ...published,
        ActiveRuns,
        EventFeed,
        KeyRetention,
        OwnerSweep,
        QueueCounts,
        RunnerLoss,
        TaskAcceptance,
        TaskClaims,
        TaskEnd,
        TaskExecution,
        TaskHooks,
        TaskJournal,
        TaskNews,
        TaskObjects,
        TaskRequests,
        TaskRetention,
        TaskSettlement,
        TaskStart,
      ],
      exports: published,
    };
  }
}
