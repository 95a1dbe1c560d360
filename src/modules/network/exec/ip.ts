/**
 * Interfaces in the files of Debian's ifupdown: /etc/network/interfaces and interfaces.d.
 *
 * @platform Debian
 * @depends ifup
 */
import { join } from 'node:path';
import { runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { readNames, readOr } from '../../_shared/files/read-file.ts';
import { replaceFile } from '../../_shared/files/write-file.ts';
import { salt } from '../../_shared/states/call.ts';
import { __grains__, CommandExecutionError, log, SaltInvocationError } from '../../api.ts';
import { replaceInterface, splitInterfaces } from '../ifupdown-file.ts';
import { type InterfaceSettings, interfaceStanza } from '../ifupdown-stanza.ts';

export const __virtual__ = (): true | [false, string] =>
  (__grains__.os_family === 'Debian' && which('ifup') !== undefined) || [
    false,
    'only Debian with ifupdown keeps interfaces in /etc/network/interfaces.',
  ];

const mainFile = '/etc/network/interfaces';
const folder = '/etc/network/interfaces.d';

/** The files that may say something of interfaces, the main one first. */
const files = (): string[] => [
  mainFile,
  ...readNames(folder)
    .sort()
    .map(name => join(folder, name)),
];

const fileOf = (iface: string): string =>
  files().find(path => splitInterfaces(readOr(path) ?? '', iface).own.length > 0) ?? mainFile;

const linesOf = (text: string): string[] =>
  text
    .replace(/\n$/, '')
    .split('\n')
    .map(line => `${line}\n`);

/**
 * Returns the configuration of an interface, line by line; an empty list when it has none.
 *
 * @param iface the interface
 * @example tsalt-ssh '*' ip.get_interface eth0
 */
export const get_interface = async (iface: string): Promise<string[]> =>
  files().flatMap(path => splitInterfaces(readOr(path) ?? '', iface).own.map(line => `${line}\n`));

const types = ['eth', 'bond', 'bridge', 'slave', 'vlan'];

/**
 * Writes the configuration of an interface and returns it line by line. The rest of the files is
 * not changed.
 *
 * @param iface the interface
 * @param iface_type `eth`, `bond`, `bridge`, `slave` or `vlan`
 * @param enabled true: it comes up at boot
 * @example tsalt-ssh '*' ip.build_interface eth0 eth True proto=dhcp test=True
 */
export const build_interface = async (
  iface: string,
  iface_type: string,
  enabled: boolean,
  { ...settings }: InterfaceSettings = {},
): Promise<string[]> => {
  const type = iface_type.toLowerCase();
  if (!types.includes(type))
    throw new SaltInvocationError(
      `The type ${iface_type} of interface ${iface} is not supported: ${types.join(', ')} are.`,
    );
  const { text, unused } = interfaceStanza(iface, type, enabled, settings);
  if (unused.length > 0)
    log.warning(`Nothing is done with these settings of ${iface} here: ${unused.join(', ')}.`);
  if (settings.test) return linesOf(text);
  if (type === 'bridge' && which('brctl') === undefined) await salt('pkg.install')('bridge-utils');
  if (type === 'bond' && which('ifenslave') === undefined) await salt('pkg.install')('ifenslave');
  const given = settings.filename === undefined ? undefined : String(settings.filename);
  if (given !== undefined)
    await replaceFile(given.startsWith('/') ? given : join(folder, given), text);
  else {
    const path = fileOf(iface);
    await replaceFile(path, replaceInterface(readOr(path) ?? '', iface, text));
  }
  return linesOf(text);
};

// The connection to this host may go through the interface: what was begun ends without it.
const toEnd = async (script: string, iface: string): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(
    ['setsid', '--fork', '--wait', 'sh', '-c', script, 'sh', iface],
    { plainLocale: true, cwd: '/' },
  );
  if (code !== 0)
    throw new CommandExecutionError(
      `Interface ${iface} does not come up: ${stderr.trim() || stdout.trim()}`,
    );
  return stdout.trim();
};

/**
 * Takes an interface down. A slave goes with its bond.
 *
 * @param iface the interface
 * @param iface_type its type
 * @example tsalt-ssh '*' ip.down eth0 eth
 */
export const down = async (iface: string, iface_type: string): Promise<string | null> =>
  iface_type === 'slave' ? null : toEnd('ifdown "$1" || true', iface);

/**
 * Brings an interface up. A slave comes with its bond.
 *
 * @param iface the interface
 * @param iface_type its type
 * @param restart true: take it down first, in one go
 * @example tsalt-ssh '*' ip.up eth0 eth
 */
export const up = async (
  iface: string,
  iface_type: string,
  restart = false,
): Promise<string | null> =>
  iface_type === 'slave'
    ? null
    : toEnd(restart ? 'ifdown "$1"; exec ifup "$1"' : 'exec ifup "$1"', iface);
