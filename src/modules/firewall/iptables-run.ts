import { getOwn } from '../../protocol/plain.ts';
import { type CommandResult, runCommand } from '../_shared/commands/run-command.ts';
import { which } from '../_shared/commands/which.ts';
import { splitWords } from '../_shared/text/words.ts';
import { CommandExecutionError, SaltInvocationError } from '../api.ts';

const programs: Readonly<Record<string, string>> = { ipv4: 'iptables', ipv6: 'ip6tables' };

/** The name of the program for a family of addresses. */
export const iptablesName = (family: string): string => {
  const name = getOwn(programs, family);
  if (name === undefined)
    throw new SaltInvocationError(`Not a family of addresses: ${family}. Write ipv4 or ipv6.`);
  return name;
};

/** The program's path, for people to read. */
export const iptablesPath = (family: string): string =>
  which(iptablesName(family)) ?? iptablesName(family);

export const runIptables = (family: string, ...args: string[]): Promise<CommandResult> =>
  runCommand([iptablesName(family), '--wait', ...args], { plainLocale: true, cwd: '/' });

/** Runs a command that changes something. */
export const changeIptables = async (family: string, ...args: string[]): Promise<true> => {
  const { code, stderr } = await runIptables(family, ...args);
  if (code !== 0)
    throw new CommandExecutionError(
      stderr.trim() || `${iptablesName(family)} ${args.join(' ')} failed`,
    );
  return true;
};

/** The words of a rule that is written as on a command line. */
export const wordsOfRule = (rule: string): string[] => {
  if (rule === '') throw new SaltInvocationError('Error: Rule needs to be specified');
  return splitWords(rule);
};

/** All rules as `iptables-save` writes them. */
export const allRules = async (family: string): Promise<string> => {
  const { code, stdout, stderr } = await runCommand([`${iptablesName(family)}-save`], {
    plainLocale: true,
    cwd: '/',
  });
  if (code !== 0) throw new CommandExecutionError(stderr.trim());
  return stdout;
};
