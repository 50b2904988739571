import type { HubFault } from './fake-hub.js';

/** Sends up to this place of the file and closes the connection. */
export const cutAt =
  (place: number): HubFault =>
  async (request) => {
    await request.hub.send(request, place);
    request.answer.destroy();
  };

/** Sends up to this place of the file and then nothing. */
export const stallAt =
  (place: number): HubFault =>
  (request) =>
    request.hub.send(request, place);

/** As one that knows no ranges. */
export const wholeFile: HubFault = async ({ hub, answer, path, bytes }) => {
  answer.writeHead(200, { 'content-length': bytes.length });
  await hub.write(answer, path, bytes);
  answer.end();
};

/** A page that says "log in" with a 200, in pieces without a length; with `length` it is as long as the file. */
export const webPage =
  (length = 0, type = 'text/plain'): HubFault =>
  ({ answer }) => {
    answer.writeHead(200, { 'content-type': type });
    answer.write('<html>');
    answer.end('please log in</html>'.padEnd(length - 6, ' '));
  };

/** Announces another length than the listing did. */
export const announces =
  (length: number): HubFault =>
  ({ answer, bytes }) =>
    answer.writeHead(200, { 'content-length': length }).end(bytes.subarray(0, length));

/** Without a length, and longer than the listing said. */
export const goesOn: HubFault = ({ answer, bytes }) => {
  answer.writeHead(200);
  answer.write(bytes);
  answer.end('more');
};

/** The right length with one wrong bit. */
export const flippedBit: HubFault = (request) => {
  const bytes = Buffer.from(request.bytes);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  return request.hub.send({ ...request, bytes });
};

/** Another part than the one that was asked for. */
export const otherRange: HubFault = ({ answer, bytes }) =>
  answer
    .writeHead(206, { 'content-range': `bytes 0-${bytes.length - 1}/${bytes.length}`, 'content-length': bytes.length })
    .end(bytes);

export const answers =
  (status: number, headers: Record<string, string> = {}): HubFault =>
  ({ answer }) =>
    answer.writeHead(status, headers).end();

export const redirectsTo = (location: string): HubFault => answers(302, { location });
