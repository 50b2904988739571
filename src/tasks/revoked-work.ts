import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ClientDirectory } from '../clients/index.js';
import type { Tx } from '../database/index.js';
import { DomainError } from '../errors/index.js';
import { Notices } from '../notices/index.js';
import { TaskUnits } from './hooks/task-units.js';
import { TaskCancellation } from './task-cancellation.js';
import { TaskClaims } from './task-claims.js';
import type { Task } from './task.js';

/** Tasks cancelled in one unit. */
const PAGE = 100;

const UNFINISHED = `status in ('queued', 'loading', 'running')`;

/**
 * Cancels the unfinished work of revoked clients (WIRE B8). That they are revoked stands in their rows, so a kill in between
 * loses nothing: it is done at once, after each recovery, and whenever one of their tasks would be claimed or taken up.
 */
@Injectable()
export class RevokedWork implements OnModuleInit {
  constructor(
    private readonly units: TaskUnits,
    private readonly clients: ClientDirectory,
    private readonly cancellation: TaskCancellation,
    private readonly claims: TaskClaims,
    private readonly notices: Notices,
  ) {}

  onModuleInit(): void {
    this.notices.on('client.revoked', ({ client_id: id }) => this.cancelAll(id));
    this.claims.screenBy((tx, tasks) => this.screen(tx, tasks));
  }

  /** Every revoked client's work; after recovery and before anything is claimed. */
  async sweep(): Promise<void> {
    const owners = await this.units.run(async (tx) => {
      const rows = await tx.query<{ id: string }>(`select distinct client_id as id from tasks where ${UNFINISHED}`);
      return this.clients.revoked(
        tx,
        rows.map(({ id }) => id),
      );
    });
    for (const id of owners) await this.cancelAll(id);
  }

  /** Never rejects. */
  private async cancelAll(clientId: string): Promise<void> {
    try {
      while ((await this.units.run((tx) => this.cancelPage(tx, clientId))) === PAGE);
    } catch (error) {
      this.notices.emit('client.work_left', { client_id: clientId, error });
    }
  }

  private async cancelPage(tx: Tx, clientId: string): Promise<number> {
    const rows = await tx.query<{ id: string }>(
      `select id from tasks where client_id = ? and ${UNFINISHED} order by position limit ?`,
      [clientId, PAGE],
    );
    for (const { id } of rows) await this.cancel(tx, id);
    return rows.length;
  }

  /** The tasks that may be claimed; the others are cancelled. */
  private async screen(tx: Tx, tasks: Task[]): Promise<Task[]> {
    const revoked = await this.clients.revoked(tx, [...new Set(tasks.map(({ clientId }) => clientId))]);
    for (const task of tasks) if (revoked.has(task.clientId)) await this.cancel(tx, task.id);
    return tasks.filter(({ clientId }) => !revoked.has(clientId));
  }

  private async cancel(tx: Tx, taskId: string): Promise<void> {
    try {
      await this.cancellation.request(tx, taskId);
    } catch (error) {
      // It has ended meanwhile.
      if (!(error instanceof DomainError) || error.code !== 'task_not_cancellable') throw error;
    }
  }
}
