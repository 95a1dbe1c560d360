import { spawn } from 'node:child_process';
import { Duplex } from 'node:stream';
import { unreachable } from './unreachable.ts';

/**
 * Opens the `ProxyCommand` of the user's ssh configuration as a socket. `ssh -G` has expanded its
 * tokens; as with ssh, the shell runs it. It never comes from a roster.
 */
export const proxyCommand = (command: string, where: string): Duplex => {
  const child = spawn('/bin/sh', ['-c', `exec ${command}`], { stdio: ['pipe', 'pipe', 'inherit'] });
  const duplex = Duplex.from({ writable: child.stdin, readable: child.stdout });
  child.on('error', error => duplex.destroy(unreachable(where, error)));
  duplex.on('close', () => child.kill());
  return duplex;
};
