import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Stands between client and service, and can stop carrying bytes without a word: no end, no reset, nothing read. */
export class SwallowingProxy {
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async to(port: number): Promise<SwallowingProxy> {
    const server = createServer();
    const proxy = new SwallowingProxy(server);
    server.on('connection', (client) => proxy.join(client, connect(port, '127.0.0.1')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** From now on every byte of either side is lost, and neither hears of it. */
  swallow(): void {
    for (const socket of this.sockets) {
      socket.unpipe();
      socket.pause();
    }
  }

  close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private join(client: Socket, service: Socket): void {
    for (const socket of [client, service]) {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      socket.on('error', () => undefined);
    }
    client.pipe(service);
    service.pipe(client);
  }
}
