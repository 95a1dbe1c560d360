import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { TestHost } from './runner.ts';

/** Runs git by hand. */
export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
    cwd,
    stdio: 'pipe',
  })
    .toString()
    .trim();

/** A repository below the scratch folder to clone from, and how to add a commit to it. */
export const makeOrigin = (
  host: TestHost,
): { origin: string; commit: (text: string) => string } => {
  host.write('origin/f', '0');
  const origin = join(host.root, 'origin');
  git(origin, 'init', '-q', '-b', 'main');
  return {
    origin,
    commit: text => {
      host.write('origin/f', text);
      git(origin, 'add', '.');
      git(origin, 'commit', '-qm', text);
      return git(origin, 'rev-parse', 'HEAD');
    },
  };
};
