// The service as it is shipped and one route more: POST /v1/bench/no-op passes the same edge, guard, body reader and
// validation as POST /v1/responses, and does nothing.
import 'reflect-metadata';
import { Body, Controller, HttpCode, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

const dist = (path) => import(new URL(`../../dist/src/${path}`, import.meta.url));
const { AppModule } = await dist('app.module.js');
const { RequireScope } = await dist('clients/index.js');
const { loadConfig } = await dist('config/index.js');
const { configureApp, edgeOptions } = await dist('http/index.js');
const { logNotices, Notices, openLog } = await dist('notices/index.js');
const { boundHeapGrowth, stopOnSignals } = await dist('operations/index.js');
const { CreateResponseDto } = await dist('responses/dto/create-response.dto.js');
const { Service } = await dist('service.js');

class NoOpController {
  accept() {
    return { accepted: true };
  }
}
const method = [NoOpController.prototype, 'accept'];
const descriptor = Object.getOwnPropertyDescriptor(...method);
Reflect.defineMetadata('design:paramtypes', [CreateResponseDto], ...method);
Body()(...method, 0);
for (const decorate of [Post(), HttpCode(202), RequireScope('responses:write')]) decorate(...method, descriptor);
Controller('v1/bench/no-op')(NoOpController);

class BenchModule {}
Module({ imports: [AppModule.register()], controllers: [NoOpController] })(BenchModule);

boundHeapGrowth();
const config = loadConfig();
const log = openLog(config.logLevel);
const app = await NestFactory.create(BenchModule, { ...edgeOptions(config), abortOnError: false, logger: false });
logNotices(app.get(Notices), log.logger);
const service = new Service(configureApp(app));
const exit = (code) => process.exit(code);
stopOnSignals({ stop: (reason) => service.stop(reason), exit, crash: exit, source: process });
await service.start();
