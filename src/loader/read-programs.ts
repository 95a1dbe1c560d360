import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { artifactHead, artifactTail } from '../protocol/stack.ts';
import { artifactFrame, codeFrame } from './config.ts';

/** The shell scripts that run on hosts. */
const scripts = [
  'find-node',
  'take-node',
  'pull-node',
  'pre-flight',
  'authorize-key',
  'become-su',
  'become-doas',
  'clean',
  'probe',
] as const;

/** The text of each program that runs on a host before the artifact does. */
export type Programs = Readonly<Record<(typeof scripts)[number] | 'loader', string>>;

/**
 * Reads the programs from their sources.
 *
 * @param folder where these are; beside this file by default
 */
export const readPrograms = (folder = dirname(fileURLToPath(import.meta.url))): Programs => {
  const read = scripts.map(name => [name, readScript(folder, `${name}.sh`)] as const);
  return { ...(Object.fromEntries(read) as Programs), loader: readLoader(folder) };
};

/**
 * A script as one line, without comments, each `. ./FILE` replaced by that file. Each line of our
 * scripts is a complete command or ends in an opening word.
 */
const readScript = (folder: string, name: string): string =>
  readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => {
      const [, included] = /^\. \.\/(\S+)$/.exec(line) ?? [];
      return included === undefined ? line : readScript(folder, included);
    })
    .reduce(
      (text, line) =>
        text + (/(?:^|\s)(?:then|do|else|in|\{|\()$|;;$/.test(text) ? ' ' : '; ') + line,
    );

const readLoader = (folder: string): string => {
  const { transformSync } = createRequire(import.meta.url)('esbuild') as typeof import('esbuild');
  const { code } = transformSync(readFileSync(join(folder, 'main.ts'), 'utf8'), {
    loader: 'ts',
    format: 'iife',
    target: 'es5',
    minify: true,
    charset: 'ascii',
    define: {
      ARTIFACT_FRAME: String(artifactFrame),
      CODE_FRAME: String(codeFrame),
      ARTIFACT_HEAD: JSON.stringify(artifactHead),
      ARTIFACT_TAIL: JSON.stringify(artifactTail),
    },
  });
  return code.trim();
};
