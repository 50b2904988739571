import { Module } from '@nestjs/common';
import { Notices } from './notices.js';

/** One set of notices for the whole service. */
@Module({ providers: [Notices], exports: [Notices] })
export class NoticesModule {}
