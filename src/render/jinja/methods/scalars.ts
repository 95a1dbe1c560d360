import type { Bytes } from '../values/things.ts';
import type { Value } from '../values/value.ts';
import { type Method, methods } from './method.ts';

/** Methods of `bytes`. */
export const bytesMethods: ReadonlyMap<string, Method<Bytes>> = methods<Bytes>('bytes', {
  decode: [['encoding?', 'errors?'], self => self.bytes.toString('utf8')],
  hex: [[], self => self.bytes.toString('hex')],
});

/** Methods of ints and floats. */
export const numberMethods: ReadonlyMap<string, Method<Value>> = methods<Value>('int', {
  bit_length: [[], self => (typeof self === 'number' ? Math.abs(self).toString(2).length : 0)],
  is_integer: [[], self => Number.isInteger(Number(self))],
});
