import { getOwn } from '../../protocol/plain.ts';
import { type CommandResult, runCommand } from '../_shared/commands/run-command.ts';
import { which } from '../_shared/commands/which.ts';
import { splitCommandArgs } from '../_shared/text/command-args.ts';
import { CommandExecutionError, SaltInvocationError } from '../api.ts';

const programs: Readonly<Record<string, string>> = { ipv4: 'iptables', ipv6: 'ip6tables' };

/** Returns the name of the program for an address family. */
export const iptablesName = (family: string): string => {
  const name = getOwn(programs, family);
  if (name === undefined)
    throw new SaltInvocationError(`Not a family of addresses: ${family}. Write ipv4 or ipv6.`);
  return name;
};

/** Returns the program's path for messages. */
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

/** Splits a rule in command-line syntax into words. */
export const argsOfRule = (rule: string): string[] => {
  if (rule === '') throw new SaltInvocationError('Error: Rule needs to be specified');
  return splitCommandArgs(rule);
};

/** Returns all rules, as `iptables-save` prints them. */
export const allRules = async (family: string): Promise<string> => {
  const { code, stdout, stderr } = await runCommand([`${iptablesName(family)}-save`], {
    plainLocale: true,
    cwd: '/',
  });
  if (code !== 0) throw new CommandExecutionError(stderr.trim());
  return stdout;
};
