import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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
