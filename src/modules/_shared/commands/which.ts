import { isAbsolute, join } from 'node:path';
import { isExecutable, isFile } from '../files/file-paths.ts';

/** Where system commands are even when the login's PATH leaves them out (cron, sudo, sshd). */
const systemFolders = [
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
  '/sbin',
  '/bin',
  '/opt/homebrew/bin',
];

/** The PATH in which modules look for commands: the login's, then the system's own folders. */
export const searchPath = (path = process.env.PATH ?? ''): string[] => [
  ...new Set([...path.split(':').filter(folder => isAbsolute(folder)), ...systemFolders]),
];

/** The path of an executable, or undefined. A name with a slash is taken as a path. */
export const which = (command: string): string | undefined => {
  if (command === '') return undefined;
  if (command.includes('/')) return isProgram(command) ? command : undefined;
  return searchPath()
    .map(folder => join(folder, command))
    .find(isProgram);
};

const isProgram = (path: string): boolean => isExecutable(path) && isFile(path);
