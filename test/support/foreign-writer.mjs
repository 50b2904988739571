// Another program that writes to the store, as told by its parent: locks it, or commits to it again and again.
import sqlite3 from 'sqlite3';

const database = new sqlite3.Database(process.argv[2], sqlite3.OPEN_READWRITE);
database.configure('busyTimeout', 10_000);
const run = (sql) =>
  new Promise((resolve, reject) => database.exec(sql, (error) => (error ? reject(error) : resolve())));

let churning = false;
let commits = 0;
async function churn() {
  churning = true;
  // The only thing of ours that a stranger may change without harm.
  while (churning) await run(`PRAGMA user_version = ${++commits}`);
}

const TASKS = {
  lock: () => run('BEGIN IMMEDIATE'),
  release: () => run('ROLLBACK'),
  read: () => run('BEGIN; SELECT count(*) FROM tasks'),
  churn: () => void churn(),
  rest: () => void (churning = false),
};

process.on('message', async (task) => {
  await TASKS[task]();
  process.send({ task, commits });
});
process.on('disconnect', () => process.exit(0));
