import { appendFileSync } from 'node:fs';
import type { LowChunk, Plain, StateReturn } from 'tsalt-ssh/module';
import { __opts__ } from 'tsalt-ssh/module';

type Options = { log?: string; ok?: boolean; [key: string]: Plain | undefined };
type WatchOptions = { sfun?: string; log?: string; [key: string]: Plain | undefined };

const isTest = (): string => (__opts__.test ? 'True' : 'False');

export const mod_init = (low: LowChunk): Plain => {
  appendFileSync(String(low.log), `init ${low.fun} ${low.name}\n`);
  return low.ok ?? true;
};

export const go = (name: string, { log = '', ...rest }: Options = {}): StateReturn => {
  void rest;
  appendFileSync(log, `go ${name} test=${isTest()}\n`);
  return { name, result: true, changes: {}, comment: 'went' };
};

export const chg = (name: string, { log, ...rest }: Options = {}): StateReturn => {
  void log;
  void rest;
  return { name, result: __opts__.test ? null : true, changes: { a: 'b' }, comment: 'changed' };
};

export const mod_watch = (
  name: string,
  { sfun = '', log = '', ...rest }: WatchOptions = {},
): StateReturn => {
  const keys = Object.keys(rest)
    .filter(key => !key.startsWith('__'))
    .sort();
  appendFileSync(log, `watch ${name} sfun=${sfun} kw=${keys.join(',')}\n`);
  return { name, result: true, changes: { watched: sfun }, comment: 'watched' };
};
