import { expect, test } from 'vitest';
import { Handshake, type HandshakeMessage } from '../../../src/transport/handshake-messages.ts';

const heard = (line: string): HandshakeMessage[] => {
  const said: HandshakeMessage[] = [];
  new Handshake('web1', one => said.push(one)).push(Buffer.from(`noise\n\0TSALT1 ${line}\n`));
  return said;
};

test('the fields of a line of the loader are texts and numbers', () => {
  expect(heard('{"start":true,"pid":12,"node":"v20.0.0"}')).toEqual([
    { by: 'loader', value: { start: true, pid: 12, node: 'v20.0.0' } },
  ]);
});

test.each([
  '{"start":true,"node":{"toString":1,"valueOf":1}}',
  '{"need":"node","os":{"toString":{}}}',
  '{"error":"x","message":[[1]]}',
  '[1]',
  'null',
  '{"start":',
])('a host that sends %s is ended with a cause that names it', line => {
  expect(() => heard(line)).toThrow(
    'web1: the host sent a first line that is not a JSON object of texts and numbers.',
  );
});
