import { runCommand } from '../_shared/commands/run-command.ts';
import { CommandExecutionError } from '../api.ts';

/** Runs firewall-cmd and returns its output. */
export const firewallCmd = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(['firewall-cmd', ...args], {
    plainLocale: true,
    cwd: '/',
  });
  if (code !== 0)
    throw new CommandExecutionError(`firewall-cmd failed: ${stderr.trim() || stdout.trim()}`);
  return stdout.trim();
};

/** Runs firewall-cmd for one zone, by default the default zone. */
export const zoneCmd = (
  zone: string | null,
  permanent: boolean,
  ...args: string[]
): Promise<string> =>
  firewallCmd(...(permanent ? ['--permanent'] : []), ...(zone ? [`--zone=${zone}`] : []), ...args);

/** Splits a list that firewall-cmd prints into words. */
export const outputTokens = (text: string): string[] =>
  text.split(/\s+/).filter(word => word !== '');

/** Splits a list that firewall-cmd prints into lines. */
export const outputLines = (text: string): string[] =>
  text.split('\n').filter(line => line.trim() !== '');

/** Zones by name with their settings, each as a list of lines. */
export type Zones = { [zone: string]: { [setting: string]: string[] } };

/**
 * Parses the output of `--list-all`: a name, then `setting: value` lines, with further values below
 * some of them.
 */
export const parseZones = (text: string): Zones => {
  const zones: Zones = {};
  let zone: { [setting: string]: string[] } = {};
  let values: string[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    if (/^\w/.test(line)) {
      zone = {};
      zones[line.trim()] = zone;
    } else if (line.startsWith('\t')) values.push(line.trim());
    else {
      const [setting = '', value = ''] = line.split(/:(.*)/);
      values = [value.trim()];
      zone[setting.trim()] = values;
    }
  }
  return zones;
};
