import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller, Module, Post } from '@nestjs/common';
import { AnyClient, UnitOfWork, type Extension, type Tx } from 'lmsp-service';
import { createTestService, NotTheDatabase, type TestService } from 'lmsp-service/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const INSERT = 'INSERT INTO careless_rows (word) VALUES (?)';

class CreateRows1797000000000 {
  async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
    await runner.query('CREATE TABLE careless_rows (word TEXT PRIMARY KEY)');
  }

  down(): Promise<void> {
    return Promise.resolve();
  }
}

/** Each route breaks one rule of units of work, as an author might who has read none of them. */
@Controller('careless')
@AnyClient()
class CarelessController {
  static elsewhere = '';
  private kept: Tx | null = null;

  constructor(private readonly units: UnitOfWork) {}

  @Post('forgotten-await')
  forgottenAwait(): Promise<void> {
    return this.units.run(async (tx) => {
      await tx.execute(INSERT, ['awaited']);
      void tx.execute(INSERT, ['forgotten']);
    });
  }

  @Post('outside-the-unit')
  async outsideTheUnit(): Promise<void> {
    await this.units.run(async (tx) => {
      await tx.execute(INSERT, ['inside']);
      this.kept = tx;
    });
    await this.kept?.execute(INSERT, ['outside']);
  }

  @Post('past-the-unit')
  async pastTheUnit(): Promise<void> {
    await this.units.run(async (tx) => void (this.kept = tx));
    await this.kept?.manager.connection.query(INSERT, ['past']);
  }

  @Post('at-the-same-time')
  atTheSameTime(): Promise<void> {
    return this.units.run(async (tx) => {
      await Promise.all(['one', 'two', 'three'].map((word) => tx.execute(INSERT, [word])));
    });
  }

  @Post('unit-in-a-unit')
  unitInAUnit(): Promise<void> {
    return this.units.run(async (tx) => {
      await tx.execute(INSERT, ['outer']);
      await this.units.run((inner) => inner.execute(INSERT, ['inner'])).catch(() => undefined);
    });
  }

  @Post('network-in-a-unit')
  networkInAUnit(): Promise<void> {
    return this.units.run(async (tx) => {
      await tx.execute(INSERT, ['told']);
      await fetch(CarelessController.elsewhere);
    });
  }
}

@Module({ controllers: [CarelessController] })
class CarelessModule {}

const careless: Extension = {
  name: 'careless',
  version: '1.0.0',
  compatibleWith: '*',
  module: CarelessModule,
  migrations: [CreateRows1797000000000],
};

describe('an extension that breaks a rule of units of work (HOUSE 4) is caught', () => {
  let service: TestService;
  let elsewhere: Server;

  beforeAll(async () => {
    elsewhere = createServer((_, response) => void response.end()).listen(0, '127.0.0.1');
    service = await createTestService({ extensions: [careless] });
    CarelessController.elsewhere = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
  });

  afterAll(async () => {
    await service.close();
    elsewhere.close();
  });

  const post = async (route: string): Promise<number> => (await service.request('POST', `/careless/${route}`)).status;
  const namesOfErrors = (): string[] => service.failures().map(({ error }) => (error as Error).name);
  const stored = async (): Promise<string[]> => {
    const units = service.app.get(UnitOfWork, { strict: false });
    const rows = await units.run((tx) => tx.query<{ word: string }>('SELECT word FROM careless_rows ORDER BY word'));
    return rows.map(({ word }) => word);
  };

  it('1. a statement that nobody awaits: the unit is rolled back', async () => {
    expect(await post('forgotten-await')).toBe(500);
    expect(namesOfErrors()).toEqual(['UnawaitedStatement']);
    expect(await stored()).toEqual([]);
  });

  it('2. a write after its unit, or past it: the statement is refused', async () => {
    expect(await post('outside-the-unit')).toBe(500);
    expect(await post('past-the-unit')).toBe(500);
    expect(namesOfErrors()).toEqual(['TransactionEnded', 'WriteOutsideUnit']);
    expect(await stored()).toEqual(['inside']);
  });

  it('3. statements at the same time, even where all are awaited: the test kit knows', async () => {
    expect(await post('at-the-same-time')).toBe(201);
    expect(namesOfErrors()).toEqual(['StatementsAtOnce', 'StatementsAtOnce']);
    expect(await stored()).toEqual(['inside', 'one', 'three', 'two']);
  });

  it('4. a unit inside of a unit, even where the error is caught: the test kit knows', async () => {
    expect(await post('unit-in-a-unit')).toBe(201);
    expect(namesOfErrors()).toEqual(['NestedUnit']);
    expect(await stored()).toEqual(['inside', 'one', 'outer', 'three', 'two']);
  });

  it('5. the network inside of a unit, before anything is on disk: the test kit knows', async () => {
    expect(await post('network-in-a-unit')).toBe(201);
    const [failure, ...others] = service.failures();
    expect(failure?.error).toBeInstanceOf(NotTheDatabase);
    expect(others).toEqual([]);
  });
});

it('a failure that no test has looked at makes close() reject', async () => {
  const service = await createTestService({ extensions: [careless] });
  expect((await service.request('POST', '/careless/forgotten-await')).status).toBe(500);
  await expect(service.close()).rejects.toThrow(/not awaited inside a unit of work: INSERT INTO careless_rows/);
});
