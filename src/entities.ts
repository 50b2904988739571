import { AuditEventEntity } from './audit/audit-event.entity.js';
import { ClientEntity } from './clients/client.entity.js';
import { PairingEntity } from './clients/pairing.entity.js';
import { ServiceConfigEntity } from './database/service-config.entity.js';
import { ModelEntity } from './models/model.entity.js';
import { ResponseItemEntity } from './responses/response-item.entity.js';
import { ResponseEntity } from './responses/response.entity.js';
import { IdempotencyKeyEntity } from './tasks/idempotency-key.entity.js';
import { TaskEventEntity } from './tasks/task-event.entity.js';
import { TaskSnapshotEntity } from './tasks/task-snapshot.entity.js';
import { TaskEntity } from './tasks/task.entity.js';

/** Every table of the product, for the service and for the migration command line. */
export const ENTITIES = [
  ServiceConfigEntity,
  AuditEventEntity,
  ClientEntity,
  PairingEntity,
  ModelEntity,
  ResponseEntity,
  ResponseItemEntity,
  TaskEntity,
  TaskEventEntity,
  TaskSnapshotEntity,
  IdempotencyKeyEntity,
] as const;
