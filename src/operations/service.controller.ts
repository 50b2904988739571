import { Controller, Get, Inject } from '@nestjs/common';
import { RequireScope } from '../clients/index.js';
import { CONFIG, RESTART_POLICIES, serviceVersion, type Config } from '../config/index.js';
import { ModelCatalogue } from '../models/index.js';
import { DescribeRoute, Tag } from '../openapi/index.js';
import { RetentionRunner } from '../retention/index.js';
import { SERVICE_INFO } from './operations-schema.js';
import { SERVICE_IDENTITY, type ServiceIdentity } from './service-identity.js';

/** What this version offers beyond the routes that every version has. */
const FEATURES = ['responses', 'responses.background', 'responses.stream', 'tasks', 'tasks.events'] as const;

/** ServiceInfo of WIRE B2. */
export interface ServiceInfo {
  object: 'service';
  id: string;
  name: 'lmsp-service';
  version: string;
  lmsp_version: '1.0';
  /** Unix seconds. */
  started_at: number;
  incarnation: number;
  /** What works less well than it should, e.g. `model:pocket:model_digest_mismatch`; empty is fine. */
  degraded: string[];
  features: readonly string[];
  limits: Record<string, number>;
  /** 0 keeps for ever. */
  retention: { responses_seconds: number; tasks_seconds: number; idempotency_seconds: number };
  on_restart: { default: string; supported: readonly string[] };
}

@Tag('Service')
@Controller('v1/service')
export class ServiceController {
  private readonly version = serviceVersion();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(SERVICE_IDENTITY) private readonly identity: ServiceIdentity,
    private readonly models: ModelCatalogue,
    private readonly retention: RetentionRunner,
  ) {}

  @Get()
  @RequireScope('service:read')
  @DescribeRoute({
    id: 'getService',
    summary: 'Tells who the service is, what it can do and where its limits are',
    answers: { 200: { description: 'The service', schema: SERVICE_INFO } },
  })
  async read(): Promise<ServiceInfo> {
    const { id, incarnation, startedAt } = this.identity;
    return {
      object: 'service',
      id,
      name: 'lmsp-service',
      version: this.version,
      lmsp_version: '1.0',
      started_at: startedAt,
      incarnation,
      degraded: await this.degraded(),
      features: FEATURES,
      limits: limitsOf(this.config),
      retention: {
        responses_seconds: this.config.retentionResponsesSeconds,
        tasks_seconds: this.config.retentionTasksSeconds,
        idempotency_seconds: this.config.retentionIdempotencySeconds,
      },
      on_restart: { default: this.config.defaultOnRestart, supported: RESTART_POLICIES },
    };
  }

  private async degraded(): Promise<string[]> {
    const records = await this.models.list();
    const models = records.flatMap(({ id, error }) => (error === null ? [] : [`model:${id}:${error.code}`]));
    const overdue = this.retention.lastRun?.kinds.filter(({ failed }) => failed) ?? [];
    return [...models, ...overdue.map(({ kind }) => `retention:${kind}:failed`)];
  }
}

function limitsOf(config: Config): Record<string, number> {
  return {
    max_body_bytes: config.maxBodyBytes,
    max_json_depth: config.maxJsonDepth,
    max_streams: config.maxStreams,
    max_queued_tasks: config.maxQueuedTasks,
    max_queued_tasks_per_client: config.maxQueuedTasksPerClient,
    max_rows: config.maxRows,
    model_memory_bytes: config.modelMemoryBytes,
    keep_alive_seconds: config.keepAliveSeconds,
    model_turn_seconds: config.modelTurnSeconds,
    requests_per_minute: config.requestsPerMinute,
    queue_timeout_seconds: config.queueTimeoutSeconds,
    task_timeout_seconds: config.taskTimeoutSeconds,
  };
}
