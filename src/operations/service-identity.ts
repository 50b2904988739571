import { randomUUID } from 'node:crypto';
import { keptFact, newIdentifier, type UnitOfWork } from '../database/index.js';

/** Injection token of the identity: `@Inject(SERVICE_IDENTITY) identity: ServiceIdentity`. */
export const SERVICE_IDENTITY = Symbol('ServiceIdentity');

/** Who answers: the store by its id and incarnation, the process by its instance id and start. */
export interface ServiceIdentity {
  /** Made with the store and kept by it. */
  readonly id: string;
  /** Raised when a backup is put back: numbers seen before it may come again (OPERATE 5.6). */
  readonly incarnation: number;
  /** A new one for each run of the process. */
  readonly instanceId: string;
  /** Unix seconds. */
  readonly startedAt: number;
}

/** Reads the store's identity, made at its first start. */
export function loadServiceIdentity(units: UnitOfWork): Promise<ServiceIdentity> {
  return units.run(async (tx) => ({
    id: await keptFact(tx, 'service_id', newIdentifier('service')),
    incarnation: Number(await keptFact(tx, 'incarnation', '1')),
    instanceId: randomUUID(),
    startedAt: Math.floor(Date.now() / 1000),
  }));
}
