import { loadFormat } from '../output/format.ts';
import { showError } from '../protocol/error.ts';
import type { PlainDict } from '../protocol/plain.ts';
import { type Invocation, readRosters } from '../request/rosters.ts';
import { outputOptions } from './open-output.ts';

/**
 * `-H`: lists the hosts of the rosters by file, as salt-ssh does.
 *
 * @param ids only these hosts; absent: all
 */
export const hostsText = async (
  invocation: Omit<Invocation, 'ask'>,
  ids?: ReadonlySet<string>,
): Promise<string> => {
  const options = outputOptions(invocation.given, invocation.config);
  const { hosts } = await readRosters(invocation);
  const byFile = new Map<string, PlainDict>();
  for (const { host, file, fault } of hosts)
    if (ids?.has(host.id) ?? true)
      byFile.set(file, { ...byFile.get(file), [host.id]: fault ? showError(fault) : host.host });
  const name = options.out === undefined || options.out === 'highstate' ? 'nested' : options.out;
  const { format } = await loadFormat(name === 'ndjson' ? 'json' : name);
  const results = [...byFile].map(([id, value]) => ({ id, fun: 'hosts', value, retcode: 0 }));
  const text = format(results, options).trimEnd();
  return text === '' ? '' : `${text}\n`;
};
