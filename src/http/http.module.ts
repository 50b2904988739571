import { Module } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { ConfigModule } from '../config/index.js';
import { NoticesModule } from '../notices/index.js';
import { ClientRateInterceptor } from './client-rate.interceptor.js';
import { DtoPipe } from './dto.pipe.js';
import { EventStreams } from './event-streams.js';
import { HttpErrorFilter } from './http-error-filter.js';
import { OpenAnswers } from './open-answers.js';
import { RequestBodyInterceptor } from './request-body.interceptor.js';
import { TlsCertificate } from './tls-certificate.js';
import { WrongTokens } from './wrong-tokens.js';

/** The HTTP edge: bodies, validation, errors and event streams, the same for every route of the service. */
@Module({
  imports: [ConfigModule, NoticesModule],
  providers: [
    EventStreams,
    OpenAnswers,
    TlsCertificate,
    WrongTokens,
    { provide: APP_FILTER, useClass: HttpErrorFilter },
    // In this order: a body is read only for a client that may send one.
    { provide: APP_INTERCEPTOR, useClass: ClientRateInterceptor },
    { provide: APP_INTERCEPTOR, useClass: RequestBodyInterceptor },
    { provide: APP_PIPE, useClass: DtoPipe },
  ],
  exports: [EventStreams, TlsCertificate],
})
export class HttpModule {}
