export { waitFor } from '../../src/testing/wait-for.js';
