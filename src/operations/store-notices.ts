import { Injectable, type OnModuleInit } from '@nestjs/common';
import { UnitOfWork } from '../database/index.js';
import { Notices } from '../notices/index.js';

/** Tells what the store does: the database module itself knows no notices. */
@Injectable()
export class StoreNotices implements OnModuleInit {
  constructor(
    private readonly units: UnitOfWork,
    private readonly notices: Notices,
  ) {}

  onModuleInit(): void {
    this.units.onCommit(({ kind, operations, commitMs }) =>
      this.notices.emit('unit.committed', { kind, operations, duration_ms: commitMs }),
    );
  }
}
