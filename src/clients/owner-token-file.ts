import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '../config/index.js';
import { Notices } from '../notices/index.js';
import { writeSecretFile } from './secret-file.js';

const NAME = 'owner-token';

/** The owner's token in the data directory, readable by the owner of the process only. */
@Injectable()
export class OwnerTokenFile {
  private readonly file: string;

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly notices: Notices,
  ) {
    this.file = join(config.dataDir, NAME);
  }

  exists(): Promise<boolean> {
    return access(this.file).then(
      () => true,
      () => false,
    );
  }

  async write(token: string): Promise<void> {
    await writeSecretFile(this.file, `${token}\n`);
    this.notices.emit('owner.token_written', { file: this.file });
  }

  /** After a rotation: the answer has the token as well, so a file that cannot be written is told, not thrown. */
  async rewrite(token: string): Promise<void> {
    try {
      await this.write(token);
    } catch (error) {
      this.notices.emit('owner.token_unwritten', { file: this.file, error });
    }
  }
}
