import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { UnitOfWork } from '../database/index.js';
import { Clock } from '../retention/index.js';
import type { AuditAction } from './audit-actions.js';
import { AuditLog, type AuditEntry } from './audit-log.js';
import { NO_ORIGIN } from './origin.js';

const WINDOW_MS = 60_000;

/** Rows of one action in a minute; what comes beyond is counted, and told in one row. */
const MOST_ROWS = 10;

interface Window {
  began: number;
  rows: number;
  /** Not written yet. */
  withheld: number;
}

/**
 * Records what strangers can cause at will: refusals. A flood of them must not fill the disk, so each action has a bounded
 * number of rows in a minute. No request waits for these rows, or fails for the want of them.
 */
@Injectable()
export class CoalescedAudit implements OnModuleDestroy {
  private readonly windows = new Map<AuditAction, Window>();
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly units: UnitOfWork,
    private readonly log: AuditLog,
    private readonly clock: Clock,
  ) {}

  note(entry: AuditEntry): void {
    const window = this.windowOf(entry.action);
    if (window.rows < MOST_ROWS) {
      window.rows += 1;
      void this.write([entry]);
    } else {
      window.withheld += 1;
      this.timer ??= setTimeout(() => void this.flush(), WINDOW_MS).unref();
    }
  }

  /** Writes what was withheld. */
  async flush(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const entries = [...this.windows].flatMap(([action, window]) => this.summary(action, window));
    if (entries.length > 0) await this.write(entries);
  }

  onModuleDestroy(): Promise<void> {
    return this.flush();
  }

  private windowOf(action: AuditAction): Window {
    const now = this.clock.monotonicMs();
    const known = this.windows.get(action);
    if (known && now - known.began < WINDOW_MS) return known;
    const window = { began: now, rows: 0, withheld: known?.withheld ?? 0 };
    this.windows.set(action, window);
    return window;
  }

  private summary(action: AuditAction, window: Window): AuditEntry[] {
    const { withheld: count } = window;
    window.withheld = 0;
    return count === 0 ? [] : [{ action, object: null, origin: NO_ORIGIN, outcome: 'refused', count }];
  }

  private async write(entries: AuditEntry[]): Promise<void> {
    try {
      await this.units.run(async (tx) => {
        for (const entry of entries) await this.log.record(tx, entry);
      });
    } catch {
      // A locked, full or closing store: the refusal itself stands in the log of requests.
    }
  }
}
