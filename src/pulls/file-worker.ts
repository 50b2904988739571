import { parentPort, workerData } from 'node:worker_threads';
import { workOnFile, type FileJob } from './file-work.js';

// Thread entry: one job in, one answer out. Pure JavaScript, so that terminating it at any point is safe.
parentPort?.postMessage(workOnFile(workerData as FileJob));
