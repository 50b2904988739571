import { Module } from '@nestjs/common';
import { Column, Entity, PrimaryColumn, type MigrationInterface } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { whole } from '../config/index.js';
import { StartRefused } from '../errors/index.js';
import type { Extension } from '../extension.js';
import type { Authenticator } from '../clients/index.js';
import { checkExtensions } from './check-extensions.js';
import { claimsOfService } from './claims.js';

@Module({})
class DeskModule {}

@Entity('desk_notes')
class NoteEntity {
  @PrimaryColumn({ type: 'text', name: 'id' })
  id: string;
}

@Entity('notes')
class LooseEntity {
  @PrimaryColumn({ type: 'text', name: 'id' })
  id: string;

  @Column({ type: 'text', name: 'text' })
  text: string;
}

class CreateNotes1790000000000 implements MigrationInterface {
  async up(): Promise<void> {}
  async down(): Promise<void> {}
}

class SignIn implements Authenticator {
  authenticate(): Promise<null> {
    return Promise.resolve(null);
  }
}

const VERSION = '0.4.2';

const desk = (parts: Partial<Extension> = {}): Extension => ({
  name: 'desk',
  version: '1.2.3',
  compatibleWith: '^0.4',
  module: DeskModule,
  ...parts,
});

/** The complaints about these extensions; none: they are taken in. */
function problems(...extensions: Extension[]): readonly string[] {
  try {
    checkExtensions(extensions, claimsOfService([LooseEntity], [CreateNotes1790000000000]), VERSION);
    return [];
  } catch (error) {
    if (error instanceof StartRefused) return error.problems;
    throw error;
  }
}

describe('what is said against extensions before anything is opened (HOUSE 3.4)', () => {
  it('nothing, where all is well', () => {
    const whole1 = desk({
      entities: [NoteEntity],
      strategies: { authenticator: SignIn },
      scopes: { 'desk:read': 'read notes' },
      configKeys: { maxNotes: whole(10, { min: 1, max: 100 }, 'Notes that are kept.') },
    });
    expect(problems(whole1, desk({ name: 'second-desk' }))).toEqual([]);
  });

  it.each([
    ['>=0.4 <0.6', '0.4.2', true],
    ['^0.4', '0.5.0', false],
    ['^0.4', '0.4.3-rc.1', true],
    ['^1', '0.4.2', false],
  ])('the range %s of an extension and version %s of ours: %s', (compatibleWith, version, fits) => {
    const check = (): void => checkExtensions([desk({ compatibleWith })], [], version);
    if (fits) expect(check).not.toThrow();
    else
      expect(check).toThrow(`extension desk 1.2.3: works with lmsp-service ${compatibleWith}, and this is ${version}`);
  });

  it('names, versions and ranges that are none', () => {
    expect(problems(desk({ name: 'My Desk' }))).toEqual([expect.stringContaining('its name must be words')]);
    expect(problems(desk({ version: 'newest' }))).toEqual([expect.stringContaining('no semantic version')]);
    expect(problems(desk({ compatibleWith: 'all' }))).toEqual([expect.stringContaining('no range of versions: "all"')]);
    expect(problems(desk({ scopes: { 'Desk:Read': '' } }))).toEqual([
      expect.stringContaining('must look like desk:read'),
    ]);
    class Nameless implements MigrationInterface {
      async up(): Promise<void> {}
      async down(): Promise<void> {}
    }
    expect(problems(desk({ migrations: [Nameless] }))).toEqual([expect.stringContaining('must end in 13 digits')]);
  });

  it('an entity that this TypeORM does not know, and a table that does not begin with the name', () => {
    expect(problems(desk({ entities: [class Foreign {}] }))).toEqual([expect.stringContaining('a second copy')]);
    expect(problems(desk({ name: 'notes', entities: [NoteEntity] }))).toEqual([
      'extension notes 1.2.3: the table desk_notes must begin with notes_',
    ]);
  });

  it('whatever the service has already, by name', () => {
    const parts = { entities: [LooseEntity], migrations: [CreateNotes1790000000000], scopes: { 'tasks:read': '' } };
    expect(problems(desk(parts))).toEqual([
      'extension desk 1.2.3: the table notes must begin with desk_',
      'the table notes is claimed by the service and extension desk',
      'the migration CreateNotes1790000000000 is claimed by the service and extension desk',
      'the scope tasks:read is claimed by the service and extension desk',
    ]);
  });

  it('whatever two of them claim, with both names, and all of it at once', () => {
    const settings = { notes: whole(1, { min: 0, max: 9 }, 'x') };
    const first = desk({
      strategies: { authenticator: SignIn },
      scopes: { 'desk:read': '' },
      configKeys: { deskNotes: settings.notes },
    });
    const second = desk({
      name: 'desk-desk',
      strategies: { authenticator: SignIn },
      scopes: { 'desk:read': '' },
      configKeys: settings,
    });
    expect(problems(first, second, desk())).toEqual([
      'the strategy authenticator is claimed by extension desk and extension desk-desk',
      'the scope desk:read is claimed by extension desk and extension desk-desk',
      'the setting LMSP_EXT_DESK_DESK_NOTES is claimed by extension desk and extension desk-desk',
      'the name desk is claimed by extension desk twice',
    ]);
  });
});
