import { which } from '../_shared/commands/which.ts';
import { toList } from '../_shared/states/values.ts';
import type { Plain } from '../api.ts';
import { type ManagerOptions, runManager } from './package-manager.ts';

export const yumProgram = (): string => (which('dnf') ? 'dnf' : 'yum');

export const isDnf = (): boolean => yumProgram() === 'dnf';

/** Matches the message of dnf or yum while another process holds the lock. */
export const yumLocked =
  /Another app is currently holding the yum lock|Failed to obtain the transaction lock|Waiting for process/;

/** Runs dnf or yum, whichever is installed. */
export const runYum = (...args: string[]) => runManager([yumProgram(), ...args], yumLocked);

/** Converts Salt's arguments about repositories to command-line options. */
export const repoOptions = ({
  repo,
  fromrepo = (repo as string | undefined) ?? null,
  enablerepo,
  disablerepo,
  disableexcludes,
  branch,
  setopt,
}: ManagerOptions): string[] => [
  ...(fromrepo
    ? ['--disablerepo=*', `--enablerepo=${fromrepo}`]
    : [
        ...toList(disablerepo).map(one => `--disablerepo=${one}`),
        ...toList(enablerepo).map(one => `--enablerepo=${one}`),
      ]),
  ...(disableexcludes ? [`--disableexcludes=${disableexcludes}`] : []),
  ...(branch ? [`--branch=${branch}`] : []),
  ...toList(setopt as Plain).map(option => `--setopt=${option}`),
];
