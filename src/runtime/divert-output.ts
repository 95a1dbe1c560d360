import { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { format } from 'node:util';
import type { LogLevel } from '../protocol/job.ts';

/**
 * Redirects `console` and `process.stdout` to the log and makes `process.stdin` empty: the real
 * ones are the wire, and one stray byte from a module would end the run.
 */
export const divertOutput = (log: (level: LogLevel, message: string) => void): void => {
  const levels = {
    debug: 'debug',
    log: 'info',
    info: 'info',
    warn: 'warning',
    error: 'error',
    trace: 'debug',
    dir: 'info',
    table: 'info',
  } as const;
  for (const [method, level] of Object.entries(levels))
    Object.defineProperty(globalThis.console, method, {
      value: (...parts: unknown[]) => log(level, format(...parts)),
      configurable: true,
      writable: true,
    });
  replace('stdout', () => lines(text => log('info', text)));
  replace('stdin', () => Readable.from([]));
};

const replace = (name: 'stdout' | 'stdin', make: () => unknown): void => {
  let made: unknown;
  Object.defineProperty(process, name, {
    get: () => {
      made ??= make();
      return made;
    },
    configurable: true,
  });
};

const lines = (onLine: (line: string) => void): Writable => {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return new Writable({
    write(chunk: Buffer, _, done) {
      rest += decoder.write(chunk);
      const parts = rest.split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) onLine(part);
      done();
    },
  });
};
