import { CreateStore1796000000000 } from './1796000000000-create-store.js';
import { IndexUnownedTasks1796100000000 } from './1796100000000-index-unowned-tasks.js';
import { IndexRetention1796200000000 } from './1796200000000-index-retention.js';
import { IndexSuspectTasks1796400000000 } from './1796400000000-index-suspect-tasks.js';
import { ExtendClients1797000000000 } from './1797000000000-extend-clients.js';
import { CreateAuditEvents1797010000000 } from './1797010000000-create-audit-events.js';
import { IndexQueueByClient1797020000000 } from './1797020000000-index-queue-by-client.js';
import { MeasureModels1797021000000 } from './1797021000000-measure-models.js';
import { AddExecutionProvider1797023000000 } from './1797023000000-add-execution-provider.js';
import { CreateResponseItems1797024000001 } from './1797024000001-create-response-items.js';
import { NameSubjects1797030000000 } from './1797030000000-name-subjects.js';

/** Oldest first. A released migration is never edited; a change is a new one. */
export const MIGRATIONS = [
  CreateStore1796000000000,
  IndexUnownedTasks1796100000000,
  IndexRetention1796200000000,
  IndexSuspectTasks1796400000000,
  ExtendClients1797000000000,
  CreateAuditEvents1797010000000,
  IndexQueueByClient1797020000000,
  MeasureModels1797021000000,
  AddExecutionProvider1797023000000,
  CreateResponseItems1797024000001,
  NameSubjects1797030000000,
] as const;
