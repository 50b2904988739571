/**
 * The test kit for extensions: `import { createTestService } from 'lmsp-service/testing'`. It knows no test framework. What
 * it names may be relied on as what `lmsp-service` itself names (docs/extending/testing.md).
 */
export { createTestService, TestService, type TestAnswer, type TestServiceOptions } from './test-service.js';
export { type Failure } from './failures.js';
export { FakeClock } from './fake-clock.js';
export { BROKEN, END, FakeEngine, type FakeEngineOptions, type Hold, type Piece } from './fake-engine.js';
export { TestEngine, type Prompt } from './test-engine.js';
export { NotTheDatabase } from './unit-watch.js';
export { waitFor } from './wait-for.js';
