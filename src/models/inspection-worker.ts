import { parentPort, workerData } from 'node:worker_threads';
import { inspectFolder, type FolderInspection, type FolderToInspect } from './inspect-folder.js';

/** What the thread says: how far it is, now and then, and at last what it found. */
export type InspectionMessage =
  { kind: 'progress'; fraction: number } | { kind: 'inspected'; inspection: FolderInspection };

const say = (message: InspectionMessage): void => parentPort?.postMessage(message);

// Thread entry: one folder in, one inspection out. Pure JavaScript, so that terminating it at any point is safe.
const inspection = inspectFolder(workerData as FolderToInspect, (fraction) => say({ kind: 'progress', fraction }));
say({ kind: 'inspected', inspection });
