import { closestMatch } from '../data/closest-match.ts';
import { harmlessSshOptions as allowed } from '../protocol/ssh-options.ts';

const byLowerCase = new Map(allowed.map(name => [name.toLowerCase(), name]));

const instead: Readonly<Record<string, string>> = {
  proxycommand: 'It would run a command here; use proxy_jump, or set it in ~/.ssh/config.',
  localcommand: 'It would run a command here.',
  permitlocalcommand: 'It would run a command here.',
  knownhostscommand: 'It would run a command here.',
  stricthostkeychecking: 'Use --accept-new-host-keys or -i for one run, or a host_key pin.',
  userknownhostsfile: 'Use the option known_hosts_file.',
  globalknownhostsfile: 'Use the option known_hosts_file.',
  proxyjump: 'Use the roster key proxy_jump.',
  user: 'Use the roster key user.',
  port: 'Use the roster key port.',
  hostname: 'Use the roster key host.',
  remoteforward: 'Use the roster key remote_port_forwards.',
};

/**
 * Checks one `Name=value` (or `-o Name=value`) of `ssh_options`.
 *
 * @returns the option as OpenSSH spells it, or why it is refused and what to do instead
 */
export const readSshOption = (
  option: string,
): { readonly value: string } | { readonly problem: string; readonly hint: string | undefined } => {
  const match = /^(?:-o\s*)?([A-Za-z]+)(?:\s*=\s*|\s+)(\S[^\u0000-\u001f\u007f]*)$/.exec(
    option.trim(),
  );
  const [, name = '', value = ''] = match ?? [];
  if (match === null) return { problem: 'is not of the form Name=value', hint: undefined };
  const known = byLowerCase.get(name.toLowerCase());
  if (known !== undefined) return { value: `${known}=${value.trim()}` };
  const meant = closestMatch(name, allowed);
  return {
    problem: 'is not among the ssh options that may be set',
    hint:
      (Object.hasOwn(instead, name.toLowerCase()) ? instead[name.toLowerCase()] : undefined) ??
      (meant === undefined ? `The options are ${allowed.join(', ')}.` : `Did you mean '${meant}'?`),
  };
};
