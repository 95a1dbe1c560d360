import type { Options } from 'yargs';
import { options } from '../request/options.ts';

/**
 * Keeps the options of a remote command from being read as options of this program: in `tsalt-ssh
 * ssh web1 ls -l`, everything after the host is the command. Returns other command lines unchanged.
 */
export const protectRemoteCommand = (argv: readonly string[]): readonly string[] => {
  if (!argv.includes('ssh')) return argv;
  const words: number[] = [];
  for (let at = 0; at < argv.length && words.length < 2; at += 1) {
    const word = argv[at] ?? '';
    if (word === '--') return argv;
    if (/^-./.test(word)) {
      if (takesNext(word)) at += 1;
    } else words.push(at);
  }
  const [command = -1, host] = words;
  if (argv[command] !== 'ssh' || host === undefined || argv[host + 1] === '--') return argv;
  return [...argv.slice(0, host + 1), '--', ...argv.slice(host + 1)];
};

/** Whether the value of an option is the next argument. */
const takesNext = (word: string): boolean => {
  const name = word.startsWith('--') ? word.slice(2) : word.slice(-1);
  const found = Object.entries<Options>(options).find(
    ([own, { alias }]) => own === name || [alias].flat().includes(name),
  );
  return found !== undefined && found[1].type !== 'boolean';
};
