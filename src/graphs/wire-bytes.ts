/** Writing of the ONNX wire format (protobuf): fields as bytes, to be put one behind the other. */

/** A whole number from 0. */
export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

export function numberField(number: number, value: number): Buffer {
  return Buffer.concat([varint(number * 8), varint(value)]);
}

/** A text, or a message of the given parts. */
export function bytesField(number: number, content: string | Buffer | readonly Buffer[]): Buffer {
  const body = typeof content === 'string' ? Buffer.from(content) : content;
  const bytes = Buffer.isBuffer(body) ? body : Buffer.concat(body);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}
