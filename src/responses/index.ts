export { EphemeralResponses } from './ephemeral-responses.js';
export { ResponsesModule, type ResponsesModuleOptions } from './responses.module.js';
