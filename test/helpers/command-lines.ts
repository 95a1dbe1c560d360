import { readdirSync, readFileSync } from 'node:fs';

/** The arguments of every process that runs now; those of one are separated by NUL. */
export const commandLines = (): string[] =>
  readdirSync('/proc')
    .filter(entry => /^\d+$/.test(entry))
    .flatMap(pid => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')];
      } catch {
        return []; // it has ended
      }
    });
