export { PullsModule, type PullsModuleOptions } from './pulls.module.js';
