import { AbstractLogger } from 'typeorm';

/** TypeORM would print failed migrations, and on request whole statements, to standard output: our log is JSON lines. */
export class SilentLogger extends AbstractLogger {
  protected override writeLog(): void {
    // Errors reach their caller; nothing else is worth a line.
  }
}
