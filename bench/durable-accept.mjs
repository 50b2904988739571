// POST /v1/responses in the background (202: the task is on disk) beside a POST that passes the same edge, guard and
// validation and does nothing: accepts a second, and the ratio. Nothing is claimed meanwhile.
import { median, rounded, startService } from './service.mjs';
import { postLoad } from './load/post-load.mjs';
import { fileURLToPath } from 'node:url';

const ENTRY = fileURLToPath(new URL('./load/no-op-service.mjs', import.meta.url));
const BODY = { model: 'pocket', input: 'What is 17 + 4?', background: true };
const PATHS = { no_op: '/v1/bench/no-op', durable: '/v1/responses' };
const ENV = {
  LMSP_MAX_ROWS: '0',
  LMSP_MAX_QUEUED_TASKS: '10000000',
  LMSP_MAX_QUEUED_TASKS_PER_CLIENT: '10000000',
};

/** @param [rounds, seconds, connections…] */
export default async function durableAccept([rounds = '5', seconds = '3', ...widths]) {
  const cells = [];
  for (const connections of widths.length > 0 ? widths.map(Number) : [64, 256]) {
    // A new store for each width: a queue that grew would slow the later one down.
    const service = await startService({ env: ENV, main: ENTRY });
    try {
      const load = (route, time) =>
        postLoad({
          url: service.url,
          token: service.token,
          path: PATHS[route],
          body: BODY,
          connections,
          seconds: time,
        });
      for (const route of Object.keys(PATHS)) await load(route, 1);
      for (let round = 0; round < Number(rounds); round += 1) {
        // Each goes first in every other round.
        const order = round % 2 === 0 ? ['no_op', 'durable'] : ['durable', 'no_op'];
        const figures = {};
        for (const route of order) figures[route] = checked(await load(route, Number(seconds)));
        cells.push({ connections, round, ...figures });
      }
    } finally {
      await service.stop();
      await service.remove();
    }
  }
  return report(cells);
}

function checked(figures) {
  const statuses = Object.keys(figures.statuses);
  if (statuses.some((status) => status !== '202')) throw new Error(`answers: ${JSON.stringify(figures.statuses)}`);
  return figures;
}

function report(cells) {
  const ratios = {};
  const table = [...new Set(cells.map(({ connections }) => connections))].map((connections) => {
    const rounds = cells.filter((cell) => cell.connections === connections);
    const middle = (pick) => median(rounds.map(pick));
    ratios[connections] = rounded(
      middle(({ durable, no_op: noOp }) => durable.per_second / noOp.per_second),
      3,
    );
    return {
      connections,
      'no-op/s': rounded(
        middle(({ no_op: noOp }) => noOp.per_second),
        0,
      ),
      'durable/s': rounded(
        middle(({ durable }) => durable.per_second),
        0,
      ),
      ratio: ratios[connections],
      'ratios of the rounds': rounds
        .map(({ durable, no_op: noOp }) => rounded(durable.per_second / noOp.per_second, 2))
        .join(' '),
      'no-op p99 ms': rounded(
        middle(({ no_op: noOp }) => noOp.p99_ms),
        1,
      ),
      'durable p99 ms': rounded(
        middle(({ durable }) => durable.p99_ms),
        1,
      ),
    };
  });
  console.table(table);
  return { durable_over_no_op: ratios, cells: table };
}
