/** Writes the few bytes of an ONNX file that tests need which no exporter would write. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

function field(number: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

/** A graph of one operator whose weights lie in a file of the given name, `length` bytes of it. */
export function graphWithWeightsAt(location: string, length = 4): Buffer {
  const entry = (key: string, value: string): Buffer => field(13, Buffer.concat([field(1, key), field(2, value)]));
  const tensor = Buffer.concat([field(8, 'w'), entry('location', location), entry('length', String(length))]);
  const node = field(1, field(4, 'Identity'));
  return field(7, Buffer.concat([node, field(5, tensor)]));
}

/** A graph that asks for an operator nobody has. */
export function graphWithOperator(domain: string, name: string): Buffer {
  return field(7, field(1, Buffer.concat([field(4, name), field(7, domain)])));
}
