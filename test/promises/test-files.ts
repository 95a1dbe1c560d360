import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

/**
 * Finds the test files that run the tests written in a file.
 *
 * @param file a path from the root of the project
 * @returns the file itself if it is a test file, otherwise the test files that import it
 */
export const filesThatRun = (file: string): string[] => {
  if (file.endsWith('.test.ts')) return [file];
  return testFiles().filter(each => {
    const imports = readFileSync(each, 'utf8').matchAll(/ from '(\.[^']+)'/g);
    return [...imports].some(([, path = '']) => posix.join(posix.dirname(each), path) === file);
  });
};

const testFiles = (): string[] =>
  readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.test.ts'))
    .map(path => posix.join('test', path))
    .sort();
