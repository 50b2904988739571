export { openStoredLogs, storedFaults, type StoredLogs } from '../../src/testing/stored-logs.js';
