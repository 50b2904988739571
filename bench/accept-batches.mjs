// Accepts in the store, as POST /v1/responses does them once its prompt is ready: all that wait in one unit of work,
// beside a unit for each. The same tables, statements and checks; no HTTP.
import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inParallel, median, rounded } from './service.mjs';

const WIDTHS = [16, 64, 256];

/** @param [rounds, seconds] of each cell */
export default async function acceptBatches([rounds = '3', seconds = '1.5']) {
  const dataDir = await mkdtemp(join(tmpdir(), 'lmsp-bench-'));
  const store = await openAcceptance(dataDir);
  try {
    const cells = [];
    for (const connections of WIDTHS) {
      await store.run('grouped', connections, 0.5);
      await store.run('alone', connections, 0.5);
      for (let round = 0; round < Number(rounds); round += 1) {
        const figures = {};
        const ways = round % 2 === 0 ? ['alone', 'grouped'] : ['grouped', 'alone'];
        for (const way of ways) figures[way] = await store.run(way, connections, Number(seconds));
        cells.push({ at_once: connections, ...figures });
      }
    }
    return report(cells);
  } finally {
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** The parts of the application, without its port. */
export async function openAcceptance(dataDir) {
  Object.assign(process.env, {
    LMSP_DATA_DIR: dataDir,
    LMSP_LOG_LEVEL: 'error',
    LMSP_MAX_ROWS: '0',
    LMSP_MAX_QUEUED_TASKS: '10000000',
    LMSP_MAX_QUEUED_TASKS_PER_CLIENT: '10000000',
  });
  const dist = (path) => import(new URL(`../dist/src/${path}`, import.meta.url));
  const { NestFactory } = await import('@nestjs/core');
  const { AppModule } = await dist('app.module.js');
  const { Store, UnitOfWork, StoreReader, identifierSuffix } = await dist('database/index.js');
  const { PROMPT_CODEC } = await dist('inference/index.js');
  const { ResponseAcceptance } = await dist('responses/response-acceptance.js');
  const { newRow } = await dist('responses/response-store.js');
  const { ResponseRequests } = await dist('responses/index.js');
  const app = await NestFactory.create(AppModule.register(), { logger: false, abortOnError: false });
  await app.init();
  const part = (type) => app.get(type, { strict: false });
  const [{ id: client }] = await part(StoreReader).query('select id from clients where owner = 1');
  const request = { model: 'pocket', input: 'What is 17 + 4?', background: true };
  const form = await part(ResponseRequests).prepare(request, client);
  const acceptance = part(ResponseAcceptance);
  const units = part(UnitOfWork);
  const draft = () => {
    const id = `resp_${identifierSuffix()}`;
    const lmsp = { ...form.body.lmsp, task_id: id.replace('resp', 'task') };
    return {
      ...form,
      body: { ...form.body, id, lmsp },
      input: form.input.map((item) => ({ ...item, id: `msg_${id}` })),
    };
  };
  const ways = {
    grouped: () => acceptance.accept(draft()),
    alone: async () => (await units.run((tx) => acceptance.write(tx, [newRow(draft())])))[0](),
  };
  return {
    /** Accepts a second. */
    async run(way, connections, seconds) {
      const end = performance.now() + seconds * 1000;
      const began = performance.now();
      let done = 0;
      await inParallel(connections, connections, async () => {
        for (; performance.now() < end; done += 1) await ways[way]();
      });
      return done / ((performance.now() - began) / 1000);
    },
    async close() {
      await app.get(PROMPT_CODEC, { strict: false }).close();
      await part(Store).close();
      await app.close();
    },
  };
}

function report(cells) {
  const ratios = {};
  const table = WIDTHS.map((width) => {
    const rounds = cells.filter((cell) => cell.at_once === width);
    ratios[width] = rounded(median(rounds.map(({ grouped, alone }) => grouped / alone)), 1);
    return {
      'at once': width,
      'a unit each, accepts/s': rounded(median(rounds.map(({ alone }) => alone)), 0),
      'in groups, accepts/s': rounded(median(rounds.map(({ grouped }) => grouped)), 0),
      ratio: ratios[width],
      'ratios of the rounds': rounds.map(({ grouped, alone }) => rounded(grouped / alone, 1)).join(' '),
    };
  });
  console.table(table);
  return { grouped_over_alone: ratios, cells: table };
}
