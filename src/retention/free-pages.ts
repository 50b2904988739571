import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import type { StoreReader, Tx } from '../database/index.js';

/** The store's file, in bytes. */
export interface FileSize {
  bytes: number;
  /** In pages that hold nothing. */
  freeBytes: number;
}

/**
 * Gives the space of removed rows back to the disk, some pages at a time (OPERATE 5.7). A share of free pages is kept:
 * what comes tomorrow takes them without growing the file.
 */
@Injectable()
export class FreePages {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  /** Gives one chunk back; answers with the number of pages, 0 once few enough are free. */
  async release(tx: Tx): Promise<number> {
    const all = await pragma(tx, 'page_count');
    const kept = Math.ceil((all * this.config.retentionFreePercent) / 100);
    const pages = Math.min((await pragma(tx, 'freelist_count')) - kept, this.config.retentionVacuumPages);
    // 0 and less would ask for all of them at once.
    if (pages <= 0) return 0;
    await tx.query(`PRAGMA incremental_vacuum(${pages})`);
    return all - (await pragma(tx, 'page_count'));
  }

  async size(reader: StoreReader): Promise<FileSize> {
    const pageSize = await pragma(reader, 'page_size');
    return {
      bytes: (await pragma(reader, 'page_count')) * pageSize,
      freeBytes: (await pragma(reader, 'freelist_count')) * pageSize,
    };
  }
}

async function pragma(from: Pick<Tx, 'query'>, name: string): Promise<number> {
  const [row] = await from.query<Record<string, number>>(`PRAGMA ${name}`);
  return row?.[name] ?? 0;
}
