import { UsageError } from '../cli-errors.js';
import { EXIT } from '../exit-codes.js';
import { sizeText, span, timeText } from '../human-text.js';
import { printList, type List } from '../listing.js';
import type { Session } from '../session.js';
import { queryText } from '../task-api.js';

interface RetentionKind {
  kind: string;
  rule: { keep_seconds: number; counts_from: string };
  rows: number;
  oldest_at: number | null;
  due: number;
  blocked: { reason: string; rows: number }[];
  bytes: number;
}

interface Retention {
  running: boolean;
  held_seconds: number;
  next_run_at: number | null;
  file: { bytes: number; free_bytes: number };
  data: RetentionKind[];
}

interface RetentionRun {
  dry_run: boolean;
  held: boolean;
  data: { kind: string; removed: number; rows: number | null; failed: boolean }[];
}

/** `lmsp retention status`: what is kept, due and blocked. */
export async function retentionStatus(session: Session): Promise<number> {
  const { terminal, options } = session;
  const report = await session.api.json<Retention>('GET', '/v1/service/retention');
  if (terminal.format === 'json') terminal.json(report);
  else {
    const { file, held_seconds: held, next_run_at: next, running } = report;
    await printList(
      session,
      { object: 'list', data: report.data },
      {
        KIND: ({ kind }) => kind,
        KEPT: ({ rule }) => (rule.keep_seconds === 0 ? 'for ever' : span(rule.keep_seconds)),
        ROWS: ({ rows }) => rows,
        OLDEST: ({ oldest_at: at }) => timeText(at, options.time),
        DUE: ({ due }) => due,
        BLOCKED: ({ blocked }) => blockedText(blocked),
        SIZE: ({ bytes }) => sizeText(bytes),
      },
      ({ kind }) => kind,
    );
    terminal.aside(
      `file ${sizeText(file.bytes)}, ${sizeText(file.free_bytes)} of it free; ` +
        (running ? 'a run goes on' : `next run ${timeText(next, options.time)}`) +
        (held > 0 ? `; nothing expires for ${span(held)}` : ''),
    );
  }
  return EXIT.done;
}

function blockedText(blocked: RetentionKind['blocked']): string | null {
  const some = blocked.filter(({ rows }) => rows > 0);
  return some.map(({ reason, rows }) => `${rows} ${reason}`).join(', ') || null;
}

/** `lmsp retention run`: removes what is due, as each hour does, or tells what it would remove. */
export async function retentionRun(session: Session, { dryRun }: { dryRun?: boolean }): Promise<number> {
  const { terminal } = session;
  const run = await session.api.json<RetentionRun>('POST', '/v1/service/retention/run', {
    body: { dry_run: dryRun === true },
    isLong: true,
  });
  if (terminal.format === 'json') terminal.json(run);
  else {
    await printList(
      session,
      { object: 'list', data: run.data },
      {
        KIND: ({ kind }) => kind,
        [run.dry_run ? 'WOULD GO' : 'REMOVED']: ({ removed }) => removed,
        ROWS: ({ rows }) => rows,
        FAILED: ({ failed }) => (failed ? 'yes, tried again by the next run' : null),
      },
      ({ kind }) => kind,
    );
    if (run.held) terminal.aside('the clock had a gap: nothing new expires for now');
  }
  return run.data.some(({ failed }) => failed) ? EXIT.failed : EXIT.done;
}

/** `lmsp metrics`: the samples whose name or labels hold the filter; with -v what they mean too. */
export async function metrics({ api, terminal, options }: Session, filter: string | undefined): Promise<number> {
  if (terminal.format === 'json' || terminal.format === 'jsonl')
    throw new UsageError('metrics are text; leave out --json and -o');
  const text = await api.read('GET', '/metrics');
  const wanted = (line: string): boolean => filter === undefined || line.includes(filter);
  const told = (line: string): boolean => filter === undefined || options.verbose === true || !line.startsWith('#');
  for (const line of text.trimEnd().split('\n')) if (wanted(line) && told(line)) terminal.text(`${line}\n`);
  return EXIT.done;
}

interface AuditEvent {
  id: string;
  created_at: number;
  actor: string | null;
  action: string;
  target: string | null;
  outcome: string;
  count: number;
  address: string | null;
}

/** `lmsp audit`: who did what, newest first. */
export async function audit(
  session: Session,
  { action, limit, after }: { action?: string; limit?: number; after?: string },
): Promise<number> {
  const list = await session.api.json<List<AuditEvent>>('GET', `/v1/audit?${queryText({ action, limit, after })}`);
  await printList(session, list, {
    TIME: ({ created_at: at }) => timeText(at, session.options.time),
    ACTION: ({ action }) => action,
    OUTCOME: ({ outcome, count }) => (count > 1 ? `${outcome}, ${count} times` : outcome),
    BY: ({ actor }) => actor,
    TARGET: ({ target }) => target,
    FROM: ({ address }) => address,
  });
  return EXIT.done;
}
