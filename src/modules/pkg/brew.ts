import { runCommand } from '../_shared/commands/run-command.ts';
import { which } from '../_shared/commands/which.ts';
import { statSync } from '../_shared/safe-fs/fs.ts';
import { CommandExecutionError } from '../api.ts';
import { installedBy } from './package-manager.ts';
import type { PackageList } from './packages.ts';

/** Homebrew refuses to run as root, so it runs as the owner of its folder. */
export const brew = async (args: readonly string[]) => {
  const path = which('brew') ?? '/opt/homebrew/bin/brew';
  const owner = statSync(path, { throwIfNoEntry: false })?.uid;
  return runCommand([path, ...args], {
    plainLocale: true,
    cwd: '/',
    env: { HOMEBREW_NO_AUTO_UPDATE: '1', HOMEBREW_NO_ANALYTICS: '1' },
    ...(owner !== undefined && process.getuid?.() === 0 ? { runas: owner } : {}),
  });
};

export const readBrew = async (args: readonly string[]): Promise<BrewInfo> => {
  const { code, stdout, stderr } = await brew(['info', '--json=v2', ...args]);
  if (code !== 0) throw new CommandExecutionError(`brew info failed: ${stderr.trim()}`);
  return JSON.parse(stdout) as BrewInfo;
};

export type BrewInfo = {
  formulae: {
    name: string;
    full_name: string;
    aliases?: string[];
    revision?: number;
    versions: { stable: string | null; bottle?: boolean };
    installed: { version: string }[];
  }[];
  casks: {
    token: string;
    full_token?: string;
    tap?: string | null;
    version: string;
    installed: string | null;
  }[];
};

export const homebrew = { list: async () => parseBrewInfo(await readBrew(['--installed'])) };

export const listBrew = (): Promise<PackageList> => installedBy(homebrew);

/** Formulae by short and full name and their aliases, casks by token, full token and tap. */
export const parseBrewInfo = ({ formulae, casks }: BrewInfo): PackageList => {
  const list: PackageList = {};
  for (const { name, full_name, aliases = [], installed } of formulae) {
    const versions = installed.map(one => one.version);
    if (versions.length > 0) for (const one of [name, full_name, ...aliases]) list[one] = versions;
  }
  for (const { token, full_token = token, tap, installed } of casks)
    if (installed)
      for (const one of [token, full_token, `${tap || 'homebrew/cask'}/${token}`])
        list[one] = [installed];
  return list;
};
