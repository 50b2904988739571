export { Clock } from './clock.js';
export { ExpiryClock } from './expiry-clock.js';
export { RetentionModule, type RetentionModuleOptions } from './retention.module.js';
