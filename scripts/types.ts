// Writes the types of the built-in functions from their sources: `npm run types`, a step of the
// build and of `npm run lint`. It does nothing when no source has changed.
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from '@babel/parser';
import { builtinFunctionsText } from '../src/bundle/builtin-types.ts';
import { packageRoot } from '../src/bundle/locate.ts';
import { wrapperModules } from '../src/wrapper/table.ts';

const root = packageRoot();
const file = join(root, 'src', 'modules', 'builtin-functions.ts');

/** The time of the last change in a folder. */
const changed = (folder: string): number =>
  Math.max(
    statSync(folder).mtimeMs,
    ...readdirSync(folder, { withFileTypes: true })
      .filter(entry => join(folder, entry.name) !== file)
      .map(entry => {
        const path = join(folder, entry.name);
        return entry.isDirectory() ? changed(path) : statSync(path).mtimeMs;
      }),
  );

const inputs = ['src/modules', 'src/bundle', 'src/wrapper', 'scripts'].map(name =>
  join(root, name),
);
const last = Math.max(...inputs.map(changed));
if (!existsSync(file) || statSync(file).mtimeMs < last)
  writeFileSync(file, builtinFunctionsText(parse, root, wrapperModules()));
