import { parentPort, workerData } from 'node:worker_threads';
import { inspectFolder, type FolderToInspect } from './inspect-folder.js';

// Thread entry: one folder in, one inspection out. Pure JavaScript, so that terminating it at any point is safe.
parentPort?.postMessage(inspectFolder(workerData as FolderToInspect));
