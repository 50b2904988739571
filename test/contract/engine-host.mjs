// A service in small: opens one model with the compiled engine and waits to be killed.
import { ProcessEngine } from '../../dist/src/inference/index.js';

const [spec, runnersDirectory] = process.argv.slice(2);
const engine = new ProcessEngine({ runnersDirectory, stallSeconds: 30, maxWaiting: 1 });
await engine.open(JSON.parse(spec));
process.send('open');
