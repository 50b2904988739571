export { Clock } from './clock.js';
export { ExpiryClock } from './expiry-clock.js';
export { RetentionReports, type KindSurvey, type RetentionReport } from './retention-report.js';
export {
  expiredBefore,
  type RetentionBatch,
  type RetentionRule,
  type RetentionStep,
  type RetentionSurvey,
} from './retention-rule.js';
export { RetentionRules } from './retention-rules.js';
export { type KindOutcome, type RetentionRun, type RetentionTrigger } from './retention-run.js';
export { RetentionRunner } from './retention-runner.js';
export { RetentionSchedule } from './retention-schedule.js';
export { TimedRows, type TimedTable } from './timed-rows.js';
export { RetentionModule, type RetentionModuleOptions } from './retention.module.js';
