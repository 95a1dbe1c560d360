import { Resolver } from 'node:dns/promises';
import { messageOf } from '../../protocol/error.ts';
import { CommandExecutionError } from '../api.ts';

/**
 * Queries a name server, by default the system's. Returns an empty result if it has no such
 * records.
 *
 * @throws CommandExecutionError if no server responds
 */
export const askDns = async <T>(
  name: string,
  nameserver: string | null,
  how: (resolver: Resolver) => Promise<T[]>,
): Promise<T[]> => {
  const resolver = new Resolver({ timeout: 3000, tries: 2 });
  try {
    if (nameserver !== null) resolver.setServers([nameserver]);
    return await how(resolver);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENODATA' || code === 'ENOTFOUND') return [];
    throw new CommandExecutionError(
      `The name server${nameserver === null ? '' : ` ${nameserver}`} gave no answer for ${name}: ${messageOf(error)}.`,
    );
  }
};
