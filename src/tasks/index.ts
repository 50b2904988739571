export {
  AdmissionControl,
  type AdmissionPolicy,
  type AdmissionRefusal,
  type AdmissionRequest,
} from './admission-policy.js';
export { AcceptedTasks, type AcceptedTask } from './accepted-tasks.js';
export { hasUnfinishedTasks } from './unfinished-tasks.js';
export { TaskListeners, type TaskListener } from './hooks/task-listeners.js';
export { TaskRecorders, type TaskRecorder } from './hooks/task-recorders.js';
export { type TaskFacts, type TaskTransition } from './hooks/task-transition.js';
export { RECORDER_OUTCOMES, TaskUnits } from './hooks/task-units.js';
export { CountedSeats } from './counted-seats.js';
export { IdempotencyKeys } from './idempotency-keys.js';
export { metadataOf } from './metadata.js';
export { QueueLimits, type QueuePlaces } from './queue-limits.js';
export { QueueTimeout } from './queue-timeout.js';
export { type KeyHolders } from './key-holders.js';
export { RevokedWork } from './revoked-work.js';
export { TaskCancellation } from './task-cancellation.js';
export { type TaskDraft } from './task-drafts.js';
export { TaskEventStream, type OpenedLog } from './task-event-stream.js';
export {
  TaskHandlers,
  type EventDraft,
  type Seat,
  type TaskChange,
  type TaskHandler,
  type TaskOutcome,
  type TaskProgress,
  type TaskRun,
  type TaskStep,
  UNUSABLE_SNAPSHOTS,
  type UnusableSnapshot,
} from './task-handlers.js';
export { errorPayload } from './lifecycle-events.js';
export { TaskLifecycleService } from './task-lifecycle.service.js';
export {
  countSnapshotLines,
  eventJson,
  readEvents,
  readPayloadsOfMany,
  readSnapshot,
  type Queryable,
  type SnapshotCount,
  type StoredEvent,
} from './task-log.js';
export { TaskQueries, type Lane, type TaskPageRequest } from './task-queries.js';
export { TaskRecovery, type RecoveryReport } from './task-recovery.js';
export { TaskRunner } from './task-runner.js';
export { TaskStop } from './task-stop.js';
export {
  isTerminal,
  isTerminalEvent,
  ON_RESTART_POLICIES,
  TASK_STATUSES,
  TERMINAL_STATUSES,
  UNFINISHED_STATUSES,
  type HeldStatus,
  type LifecycleEvent,
  type OnRestart,
  type TaskCommand,
  type TaskStatus,
} from './task-transitions.js';
export { type JsonObject, type Task } from './task.js';
export { StaleClaim, TaskNotFound, TaskTypeTaken, TransitionRefused } from './tasks.errors.js';
export { FAILURE, TASK, TASK_EVENT } from './task-schema.js';
export { taskPayload, taskToWire, type TaskObject } from './task-view.js';
export { type TaskType, type TaskTypeEvent, type TaskTypeProgress, type TypedTaskRun } from './types/task-type.js';
export { TaskTypes } from './types/task-types.js';
export { TasksModule, type TasksModuleOptions } from './tasks.module.js';
