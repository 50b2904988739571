export { Faults, type Fault } from '../../src/testing/fault.js';
