import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../../src/config/index.js';
import { embeddedModels, type EmbeddedModel } from '../../../src/models/embedded-models.js';

/** A copy of the embedded model that a test may damage. */
export class ModelFolder {
  private constructor(
    private readonly parent: string,
    readonly directory: string,
  ) {}

  static async copy(): Promise<ModelFolder> {
    const parent = await mkdtemp(join(tmpdir(), 'lmsp-model-'));
    const directory = join(parent, 'pocket');
    await cp(join(packageRoot(), 'models/pocket'), directory, { recursive: true });
    return new ModelFolder(parent, directory);
  }

  /** The model of this folder under an id of the test's choice. */
  as(id: string): EmbeddedModel {
    const [pocket] = embeddedModels(this.parent);
    if (pocket === undefined) throw new Error('there is no embedded model');
    return { ...pocket, id };
  }

  path(file: string): string {
    return join(this.directory, file);
  }

  /** Inverts one bit; done twice, the file is as before. */
  async flip(file: string, offset = 1000): Promise<void> {
    const bytes = await readFile(this.path(file));
    bytes.writeUInt8(bytes.readUInt8(offset) ^ 1, offset);
    await writeFile(this.path(file), bytes);
  }

  async cut(file: string): Promise<void> {
    const bytes = await readFile(this.path(file));
    await truncate(this.path(file), bytes.length - 1);
  }

  /** Brings SHA256SUMS in line with the file, as a new version of the package does. */
  async declare(file: string): Promise<void> {
    const sha256 = createHash('sha256').update(await readFile(this.path(file)));
    const sums = await readFile(this.path('SHA256SUMS'), 'utf8');
    const lines = sums.split('\n').filter((line) => !line.endsWith(`  ${file}`));
    await writeFile(this.path('SHA256SUMS'), `${sha256.digest('hex')}  ${file}\n${lines.join('\n')}`);
  }

  async remove(): Promise<void> {
    await rm(this.parent, { recursive: true, force: true });
  }
}
