export { logCrashes } from './crash-log.js';
export { createLogger, openLog, type ServiceLog } from './logger.js';
export { NestLog } from './nest-log.js';
export { logNotices } from './notice-log.js';
export { type LogLevel } from './notice-log-table.js';
export { type NoticeName, type NoticeTypes } from './notice-types.js';
export { Notices } from './notices.js';
export { NoticesModule } from './notices.module.js';
export { currentRequestId, withRequestId } from './request-context.js';
