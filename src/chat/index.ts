export { ChatModule, type ChatModuleOptions } from './chat.module.js';
