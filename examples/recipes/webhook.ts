import { Inject, Injectable, Module } from '@nestjs/common';
import {
  EXTENSION_SETTINGS,
  serviceAddress,
  type Extension,
  type SettingValues,
  type TaskListener,
  type TaskTransition,
} from 'lmsp-service';

const SETTINGS = { url: serviceAddress('http://127.0.0.1:9000', 'Where the ends of tasks are posted to.') };

const ENDS: readonly string[] = ['completed', 'failed', 'cancelled'];
const PATIENCE_MS = 5000;

/** Posts each end of a task. Nobody waits for it but the next post; one that fails is in the log, and is not sent again. */
@Injectable()
export class Webhook implements TaskListener {
  constructor(@Inject(EXTENSION_SETTINGS) private readonly settings: SettingValues<typeof SETTINGS>) {}

  async heard({ task, to, at, sequenceNumber }: TaskTransition): Promise<void> {
    if (!ENDS.includes(to)) return;
    const response = await fetch(this.settings.url, {
      method: 'POST',
      // The same for the same end, whoever sends it: the receiver may drop what it has.
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `${task.id}-${sequenceNumber}` },
      body: JSON.stringify({ task_id: task.id, type: task.type, status: to, at }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
  }
}

@Module({})
class WebhookModule {}

export const webhookExtension: Extension = {
  name: 'webhook',
  version: '1.0.0',
  compatibleWith: '^0.1.0',
  module: WebhookModule,
  listeners: [Webhook],
  configKeys: SETTINGS,
};
