export {
  BROKEN,
  END,
  FakeEngine,
  type FakeEngineOptions,
  type Hold,
  type Piece,
} from '../../src/testing/fake-engine.js';
