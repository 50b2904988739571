export { complaintOf, EXIT_CODES, exitCodeOf, type ExitCode } from './exit-codes.js';
export { MetricsListener } from './metrics/metrics-listener.js';
export { OperationsModule, type OperationsModuleOptions } from './operations.module.js';
export { Readiness } from './readiness.js';
export { removeServiceFile, writeServiceFile, type ServiceFile } from './service-file.js';
export { SERVICE_IDENTITY, type ServiceIdentity } from './service-identity.js';
export { type ServiceInfo } from './service.controller.js';
export { stopOnSignals, type StopOptions, type StopSignal } from './stop-signals.js';
export { StoreCare } from './store-care.js';
