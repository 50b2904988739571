import { connect, type Socket } from 'node:net';
import { waitFor } from './wait-for.js';

/** A TCP connection whose bytes a test writes and reads itself. */
export class RawConnection {
  received = '';
  closed = false;

  private constructor(readonly socket: Socket) {
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => (this.received += text));
    socket.on('close', () => (this.closed = true));
    socket.on('error', () => undefined);
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connect(port, '127.0.0.1');
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new RawConnection(socket);
  }

  send(...lines: string[]): void {
    this.socket.write(lines.join('\r\n'));
  }

  async receives(text: string): Promise<string> {
    await waitFor(`"${text}" on the wire, after ${JSON.stringify(this.received)}`, () => this.received.includes(text));
    return this.received;
  }

  async ends(): Promise<string> {
    await waitFor('the connection to close', () => this.closed);
    return this.received;
  }

  /** Gone without a word, as a killed client is. */
  cut(): void {
    this.socket.resetAndDestroy();
  }
}
