import { hostname } from 'node:os';
import { runCommand } from '../../../_shared/commands/run-command.ts';
import { which } from '../../../_shared/commands/which.ts';
import { parseAssignments, readOr } from '../../../_shared/files/read-file.ts';
import { replaceFile } from '../../../_shared/files/write-file.ts';
import { existsSync } from '../../../_shared/safe-fs/fs.ts';
import { salt } from '../../../_shared/states/call.ts';

const file = '/etc/machine-info';

/**
 * The name of this machine.
 *
 * @example tsalt-ssh '*' system.get_computer_name
 */
export const get_computer_name = async (): Promise<string> => hostname();

/**
 * Sets the host name of this machine, as `network.mod_hostname` does.
 *
 * @param hostname the name
 * @example tsalt-ssh 'web1' system.set_computer_name web1
 */
export const set_computer_name = async (hostname: string): Promise<boolean> =>
  salt('network.mod_hostname')(hostname);

/**
 * The name for people (`hostnamectl --pretty`); false when it has none.
 *
 * @example tsalt-ssh '*' system.get_computer_desc
 */
export const get_computer_desc = async (): Promise<string | false> => {
  const told = parseAssignments(readOr(file) ?? '').get('PRETTY_HOSTNAME');
  return told === undefined ? false : told.replaceAll('\\n', '\n').replaceAll('\\t', '\t');
};

/**
 * Sets the pretty host name (description) of this machine.
 *
 * @param desc the name
 * @example tsalt-ssh 'web1' system.set_computer_desc "Anna's laptop"
 */
export const set_computer_desc = async (desc: string): Promise<boolean> => {
  if (which('hostnamectl') && existsSync('/run/systemd/system')) {
    const { code } = await runCommand(['hostnamectl', 'set-hostname', '--pretty', '--', desc], {
      plainLocale: true,
    });
    return code === 0;
  }
  const escaped = desc
    .replace(/[\\"$`]/g, found => `\\${found}`)
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t');
  const line = `PRETTY_HOSTNAME="${escaped}"`;
  const lines = (readOr(file) ?? '').split('\n').filter(Boolean);
  const at = lines.findIndex(one => /^\s*PRETTY_HOSTNAME=/.test(one));
  const text = (at < 0 ? [...lines, line] : lines.with(at, line)).join('\n');
  await replaceFile(file, `${text}\n`);
  return true;
};
