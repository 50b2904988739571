export { AccessModule, type AccessModuleOptions } from './access.module.js';
