import { Injectable } from '@nestjs/common';
import { StoreReader } from '../database/index.js';
import { ExpiryClock } from './expiry-clock.js';
import { FreePages, type FileSize } from './free-pages.js';
import type { RetentionSurvey } from './retention-rule.js';
import { RetentionRules } from './retention-rules.js';

/** A kind as it stands, with the rule it is kept by. */
export interface KindSurvey extends RetentionSurvey {
  kind: string;
  keepSeconds: number;
  countsFrom: string;
}

/** What lies in the store and what a run would take of it now. Reads only: it is the dry run as well. */
export interface RetentionReport {
  kinds: KindSurvey[];
  /** Running time for which nothing expires (WIRE B6, Clock); milliseconds. */
  heldMs: number;
  file: FileSize;
}

@Injectable()
export class RetentionReports {
  constructor(
    private readonly rules: RetentionRules,
    private readonly reader: StoreReader,
    private readonly clock: ExpiryClock,
    private readonly pages: FreePages,
  ) {}

  async make(): Promise<RetentionReport> {
    const now = this.clock.now();
    const kinds: KindSurvey[] = [];
    for (const rule of this.rules.all()) {
      const { kind, keepSeconds, countsFrom } = rule;
      kinds.push({ kind, keepSeconds, countsFrom, ...(await rule.survey(this.reader, now)) });
    }
    return { kinds, heldMs: this.clock.heldMs(), file: await this.pages.size(this.reader) };
  }
}
