import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A program in FOLDER/bin that prints a recorded answer: for what this machine has no hardware for. */
export const program = (folder: string, name: string, answer: string): void => {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, `${name}.answer`), answer);
  writeFileSync(join(bin, name), `#!/bin/sh\ncat '${join(bin, `${name}.answer`)}'\n`);
  chmodSync(join(bin, name), 0o755);
};
