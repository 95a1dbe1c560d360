import type { PlainDict } from '../../protocol/plain.ts';

/** Returns the path of the host's grains file, like Salt. The option `grains_file` changes it. */
export const grainsFileOf = ({ grains_file: own }: PlainDict): string =>
  typeof own === 'string' && own !== '' ? own : '/etc/salt/grains';
