import sqlite3 from 'sqlite3';

/** A bare connection for what must happen before or beside TypeORM: the new file's header, the first look, the lock. */
export class PlainConnection {
  private constructor(private readonly database: sqlite3.Database) {}

  /** @param flags `sqlite3.OPEN_READONLY`, or `OPEN_READWRITE` with or without `OPEN_CREATE`. */
  static open(file: string, flags: number): Promise<PlainConnection> {
    return new Promise((resolve, reject) => {
      const database = new sqlite3.Database(file, flags, (error) => {
        if (error) reject(error);
        else resolve(new PlainConnection(database));
      });
    });
  }

  rows<R>(sql: string, parameters: readonly unknown[] = []): Promise<R[]> {
    return new Promise((resolve, reject) => {
      this.database.all<R>(sql, parameters, (error, rows) => (error ? reject(error) : resolve(rows)));
    });
  }

  close(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.database.close((error) => (error ? reject(error) : resolve()));
    });
  }
}
