export {
  type FileDigest,
  type FilePieces,
  type ListedFile,
  type ModelSource,
  SourceInterrupted,
} from './model-source.js';
export { ModelSources } from './model-sources.js';
export { PullsModule, type PullsModuleOptions } from './pulls.module.js';
