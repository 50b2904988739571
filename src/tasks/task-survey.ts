import type { StoreReader } from '../database/index.js';
import type { RetentionSurvey } from '../retention/index.js';

/** Tasks whose logs are measured for the estimate of the size: the oldest, which are the next to go. */
const SAMPLE = 20;
/** Rows of each log that are measured, at most. */
const SAMPLE_ROWS = 2000;
/** What a row takes beside its payload, about. */
const ROW_BYTES = 80;

const OWNED = `status in ('loading', 'running', 'cancelling')`;

/**
 * Counts tasks for retention, each figure by a statement that an index answers: the readers of streams wait for them.
 * @param before what ended until then is past its time; epoch milliseconds
 */
export async function surveyTasks(reader: StoreReader, before: number): Promise<RetentionSurvey> {
  const figure = async (sql: string, ...parameters: unknown[]): Promise<number | null> => {
    const [row] = await reader.query<{ figure: number | null }>(sql, parameters);
    return row?.figure ?? null;
  };
  const count = async (condition: string, ...parameters: unknown[]): Promise<number> =>
    (await figure(`select count(*) as figure from tasks where ${condition}`, ...parameters)) ?? 0;
  const rows = await count('true');
  return {
    rows,
    oldestAt: await figure('select min(finished_at) as figure from tasks where finished_at is not null'),
    // Marked ones are as good as gone, also where the time to keep was made longer since.
    due:
      (await count('finished_at <= ?', before)) +
      (await count('events_expired_at is not null and finished_at > ?', before)),
    blocked: [
      {
        reason: 'unfinished',
        rows:
          (await count(`status = 'queued' and created_at <= ?`, before)) +
          (await count(`${OWNED} and created_at <= ?`, before)),
      },
    ],
    bytes: Math.round(rows * ((await figure(MEAN_LOG, ROW_BYTES, SAMPLE_ROWS, ROW_BYTES, SAMPLE_ROWS, SAMPLE)) ?? 0)),
  };
}

/** Bytes of one task's rows in all tables, on average. */
const MEAN_LOG = `select avg(${[
  'octet_length(t.metadata) + coalesce(octet_length(t.input), 0) + 300',
  '(select coalesce(sum(octet_length(payload) + ?), 0) from (select payload from task_events where task_id = t.id limit ?))',
  '(select coalesce(sum(octet_length(payload) + ?), 0) from (select payload from task_snapshots where task_id = t.id limit ?))',
].join(' + ')}) as figure from (select * from tasks order by position limit ?) t`;
