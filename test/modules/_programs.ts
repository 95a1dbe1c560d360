import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { removeFolder } from '../helpers/remove-folder.ts';

/** A program in FOLDER/bin that prints a recorded answer: for what this machine has no hardware for. */
export const program = (folder: string, name: string, answer: string): void => {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'bin', `${name}.answer`), answer);
  script(folder, name, `cat '${join(folder, 'bin', `${name}.answer`)}'`);
};

/** A program in FOLDER/bin that is this shell script. */
export const script = (folder: string, name: string, text: string): void => {
  const path = join(folder, 'bin', name);
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
};

/**
 * A folder that stands first in PATH during each test of the file, empty at its start: for programs
 * in the place of the system's that note how they are called.
 */
export const notedPrograms = () => {
  const path = process.env.PATH;
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tsalt-programs-'));
    process.env.PATH = `${folder}:${path}`;
  });
  afterEach(() => {
    process.env.PATH = path;
    removeFolder(folder);
  });
  return {
    folder: (): string => folder,
    program: (name: string, body: string): void => {
      const file = join(folder, name);
      writeFileSync(file, `#!/bin/sh\necho "${name} $*" >> ${folder}/log\n${body}\n`);
      chmodSync(file, 0o755);
    },
    /** The calls in order, one a line: name and arguments. */
    log: (): string[] => readFileSync(join(folder, 'log'), 'utf8').trim().split('\n'),
  };
};
