export { EmbeddingsModule, type EmbeddingsModuleOptions } from './embeddings.module.js';
