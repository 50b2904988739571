export { ResponsesModule, type ResponsesModuleOptions } from './responses.module.js';
