import { execFileSync } from 'node:child_process';

/** A network of its own for processes: it reaches this machine, and the bridges it is put on. */
export type NetworkNamespace = {
  /** The address of this machine there. */
  readonly here: string;
  /** The words that start a program inside. */
  readonly enter: readonly string[];
  /** Puts it on a bridge, with an address of the bridge's network. */
  readonly join: (bridge: string, address: string) => void;
  readonly close: () => void;
};

const ip = (...args: string[]): void => {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
};

/**
 * @param name at most 10 characters: names of links are made from it
 * @param number of its network of four addresses, 10.214.NUMBER.0/30
 */
export const openNetworkNamespace = (name: string, number: number): NetworkNamespace => {
  const here = `10.214.${number}.1`;
  ip('netns', 'add', name);
  ip('link', 'add', `${name}-h`, 'type', 'veth', 'peer', 'name', 'up0', 'netns', name);
  ip('addr', 'add', `${here}/30`, 'dev', `${name}-h`);
  ip('link', 'set', `${name}-h`, 'up');
  ip('-n', name, 'addr', 'add', `10.214.${number}.2/30`, 'dev', 'up0');
  for (const link of ['lo', 'up0']) ip('-n', name, 'link', 'set', link, 'up');
  return {
    here,
    enter: ['nsenter', `--net=/run/netns/${name}`, '--'],
    join: (bridge, address) => {
      ip('link', 'add', `${name}-b`, 'type', 'veth', 'peer', 'name', 'net0', 'netns', name);
      ip('link', 'set', `${name}-b`, 'master', bridge, 'up');
      ip('-n', name, 'addr', 'add', address, 'dev', 'net0');
      ip('-n', name, 'link', 'set', 'net0', 'up');
    },
    // Its links end with it.
    close: () => ip('netns', 'del', name),
  };
};
