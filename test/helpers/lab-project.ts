import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type CliResult, tsalt } from './cli.ts';
import type { Lab } from './lab.ts';
import { removeFolder } from './remove-folder.ts';

/** A project folder whose roster has booted hosts of a lab, as a user would have it. */
export type LabProject = {
  readonly dir: string;
  readonly addresses: Readonly<Record<string, string>>;
  readonly write: (files: Readonly<Record<string, string>>) => void;
  /** Rewrites `tsalt.yaml` with these settings. */
  readonly configure: (settings: string) => void;
  readonly run: (...args: string[]) => Promise<CliResult>;
  /** Ends the lab, too. */
  readonly close: () => Promise<void>;
};

type Options = {
  /** A folder to begin with. */
  readonly from?: URL;
  readonly files?: Readonly<Record<string, string>>;
  /** For `tsalt.yaml`. */
  readonly settings?: string;
  readonly env?: Readonly<Record<string, string>>;
};

/**
 * Boots hosts and writes the project's `tsalt.yaml`, `roster.yaml` and files.
 *
 * @param roster the roster's keys of each host besides address and key
 */
export const startLabProject = async (
  lab: Lab,
  entries: Readonly<Record<string, object>>,
  { from, files = {}, settings = '', env = {} }: Options = {},
): Promise<LabProject> => {
  await lab.down();
  const addresses = await lab.up(...Object.keys(entries));
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-project-'));
  const home = mkdtempSync(join(tmpdir(), 'tsalt-home-'));
  const write = (texts: Readonly<Record<string, string>>): void => {
    for (const [path, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
  };
  const configure = (text: string): void =>
    write({ 'tsalt.yaml': `known_hosts_file: ${lab.knownHosts}\n${text}` });
  if (from) cpSync(from, dir, { recursive: true });
  write(files);
  configure(settings);
  const roster = Object.entries(entries).map(([id, entry]) => [
    id,
    { host: addresses[id], priv: lab.key, ...entry },
  ]);
  write({ 'roster.yaml': JSON.stringify(Object.fromEntries(roster)) });
  return {
    dir,
    addresses,
    write,
    configure,
    run: (...args) =>
      tsalt(args, {
        cwd: dir,
        env: { HOME: home, XDG_CACHE_HOME: join(home, '.cache'), NO_COLOR: '1', ...env },
      }),
    close: async () => {
      await lab.down();
      for (const one of [dir, home]) removeFolder(one);
    },
  };
};
