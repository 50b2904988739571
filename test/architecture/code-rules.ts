import { codeOf, type SourceFile } from './source-files.js';

/** Something that code must not contain, outside of the few files that are its place. */
export interface CodeRule {
  /** Why, as the complaint says it. */
  rule: string;
  pattern: RegExp;
  /** The only files that may contain it; a trailing slash names a folder. */
  places?: readonly string[];
  /** Folder the rule is about; all sources if absent. */
  within?: string;
  /** Code that must be refused: proves that the rule can fail. */
  red: readonly string[];
  /** Code that looks alike and must pass. */
  green: readonly string[];
}

const SQL_VERBS = String.raw`\b(from|into|update|join)\s+`;

/** Module → tables that no other module may name in its SQL (HOUSE 2). */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  audit: ['audit_events'],
  clients: ['clients', 'pairings'],
  database: ['service_config'],
  models: ['models'],
  responses: ['responses'],
  tasks: ['tasks', 'task_events', 'task_snapshots', 'idempotency_keys'],
};

const TABLE_RULES: readonly CodeRule[] = Object.entries(TABLES).map(([module, tables]) => ({
  rule: `only ${module} queries ${tables.join(', ')} (HOUSE 2)`,
  pattern: new RegExp(String.raw`${SQL_VERBS}(${tables.join('|')})\b`, 'i'),
  // The test kit looks into the file itself.
  places: [`src/${module}/`, 'src/testing/'],
  red: tables.flatMap((table) => [`tx.query('select 1 from ${table}');`, `tx.query(\`DELETE FROM\n ${table} t\`);`]),
  green: tables.map((table) => `import { rows } from '../${table}/index.js';`),
}));

export const CODE_RULES: readonly CodeRule[] = [
  ...TABLE_RULES,
  {
    rule: 'only UnitOfWork begins, commits and rolls back (HOUSE 4.1)',
    pattern:
      /\b(start|commit|rollback)Transaction\(|\.transaction\(|['"`]\s*(begin|commit|rollback|savepoint|release)\b/i,
    // The lock is a transaction on a file of its own, which holds no rows.
    places: ['src/database/unit-of-work.ts', 'src/database/instance-lock.ts'],
    red: [
      'await runner.startTransaction();',
      'await runner.commitTransaction();',
      'await runner.rollbackTransaction();',
      'await source.transaction(work);',
      "await tx.execute('BEGIN IMMEDIATE');",
      'db.exec(`commit`);',
      'db.exec("rollback");',
      "db.exec('savepoint a');",
    ],
    green: ["emit('committed'); // BEGIN", "const text = 'the rollback was complete';"],
  },
  {
    rule: 'only the lifecycle service writes the status of a task (HOUSE 5): its part status-update',
    pattern: /\bupdate\s+tasks\s+set\s+((?!\bwhere\b)[^'"`])*?(\bstatus\s*=|\$\{)/i,
    places: ['src/tasks/status-update.ts'],
    red: [
      "tx.execute(`update tasks set status = 'queued' where id = ?`);",
      'tx.execute(`UPDATE tasks\n SET owner = null,\n status = ? where id = ?`);',
      'tx.execute(`update tasks set ${columns} where id = ?`);',
    ],
    green: ["tx.execute(`update tasks set suspect = 1 where id = ? and status = 'running'`);"],
  },
  {
    rule: 'only the lifecycle service writes events and snapshots (HOUSE 5): its part step-writer',
    pattern: /\binto\s+(task_events|task_snapshots)\b|\bupdate\s+(task_events|task_snapshots)\s+set\b/i,
    places: ['src/tasks/step-writer.ts'],
    red: [
      'tx.execute(`insert into task_events (task_id) values (?)`);',
      'tx.execute(`INSERT INTO\n task_snapshots select * from old`);',
      'tx.execute(`update task_events set payload = ?`);',
    ],
    green: ['tx.query(`select payload from task_events`);'],
  },
  {
    rule: 'only the lifecycle service creates tasks (HOUSE 5): its part task-drafts',
    pattern: /\binto\s+tasks\b/i,
    places: ['src/tasks/task-drafts.ts'],
    within: 'src/tasks/',
    red: ['tx.execute(`insert into tasks (id) values (?)`);'],
    green: ['tx.query(`select id from tasks`);'],
  },
  {
    rule: 'a loaded task is never saved: guarded updates only (HOUSE 5)',
    pattern: /\.save\(/,
    within: 'src/tasks/',
    red: ['await tx.manager.save(task);'],
    green: ['await tx.execute(sql, [task.id]); // not .save(task)'],
  },
  {
    rule: 'REPLACE passes the delete trigger (WIRE B6)',
    pattern: /\binsert\s+or\s+replace\b|\breplace\s+into\b/i,
    red: ['tx.execute(`insert or replace into models values (?)`);', "tx.execute('REPLACE INTO models values (?)');"],
    green: [
      "text.replace('a', 'b'); // insert or replace",
      'tx.execute(`insert into a values (1) on conflict do nothing`);',
    ],
  },
  {
    rule: 'the schema comes from migrations, never from synchronize',
    pattern: /\bsynchronize\s*:(?!\s*false)|\.synchronize\(/,
    red: ['const options = { synchronize: true };', 'await source.synchronize();'],
    green: ['const options = { synchronize: false };'],
  },
  {
    rule: 'edges between modules only go up: no forwardRef, no @Global (HOUSE 2)',
    pattern: /\bforwardRef\b|@Global\b/,
    red: ['@Inject(forwardRef(() => A)) a: A;', '@Global() @Module({}) class M {}'],
    green: ['// no forwardRef here\nconst Global = 1;'],
  },
  {
    rule: 'only src/config reads the environment (HOUSE 7)',
    pattern: /\bprocess\s*\.\s*env\b|\bprocess\[|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b/,
    // The command line starts in a tenth of a second; the whole of config takes longer to load.
    places: ['src/config/', 'src/cli/environment.ts'],
    red: ['const a = process.env.HOME;', 'const { env } = process;', "const a = process['env'];"],
    green: ['const a = process.pid; // process.env'],
  },
  {
    rule: 'only src/inference/onnx knows the runtime (HOUSE 6)',
    pattern: /['"]onnxruntime-node['"/]/,
    places: ['src/inference/onnx/'],
    red: ["import * as ort from 'onnxruntime-node';", "await import('onnxruntime-node');"],
    green: ["const word = 'onnx';"],
  },
  {
    rule: 'each export is named (HOUSE 3)',
    pattern: /\bexport\s*\*|\bexport\s+default\b/,
    // TypeORM's command line finds its data source by the default export.
    places: ['src/data-source.ts'],
    red: ["export * from './a.js';", "export * as a from './a.js';", 'export default class A {}'],
    green: ["export { a } from './a.js'; // export *"],
  },
  {
    rule: 'unions of strings, not enums (HOUSE 8)',
    pattern: /\benum\s+\w+\s*\{/,
    red: ['enum Color { red }', 'export const enum Color { red }'],
    green: ["const words = ['enum'];"],
  },
];

/** The rules that a file breaks. */
export function codeViolations(file: SourceFile, rules: readonly CodeRule[] = CODE_RULES): string[] {
  const code = codeOf(file);
  return rules
    .filter(({ within }) => within === undefined || file.path.startsWith(within))
    .filter(
      ({ places }) =>
        !places?.some((place) => file.path === place || (place.endsWith('/') && file.path.startsWith(place))),
    )
    .filter(({ pattern }) => pattern.test(code))
    .map(({ rule }) => `${file.path}: ${rule}`);
}
