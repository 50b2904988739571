import { Injectable } from '@nestjs/common';
import type { KeyedRequest, RepeatAnswers } from '../http/index.js';
import { IdempotencyKeys } from '../tasks/index.js';

/** A rotation that is sent again is refused, not done twice: its token is kept nowhere (WIRE B6, row "rotate"). */
@Injectable()
export class RotationRepeats implements RepeatAnswers {
  constructor(private readonly keys: IdempotencyKeys) {}

  async answerRepeat(keyed: KeyedRequest): Promise<boolean> {
    await this.keys.requireNew(keyed);
    return false;
  }
}
