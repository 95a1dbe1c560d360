import { basename, dirname, join } from 'node:path';
import { runCommand } from '../_shared/commands/run-command.ts';
import { isFile, linkExists } from '../_shared/files/file-paths.ts';
import { mkdirSync, readFileSync, rmSync, symlinkSync } from '../_shared/safe-fs/fs.ts';
import { CommandExecutionError, SaltInvocationError } from '../api.ts';

/** The modes of a profile file: enforced, violations only logged, or not loaded. */
export const profileModes = ['enforce', 'complain', 'disable'] as const;
export type ProfileMode = (typeof profileModes)[number];

const folder = '/etc/apparmor.d';
const loadedFile = '/sys/kernel/security/apparmor/profiles';
/** A link to the file in one of these folders determines how it is loaded at boot. */
const linkFolders: Readonly<Partial<Record<ProfileMode, string>>> = {
  complain: join(folder, 'force-complain'),
  disable: join(folder, 'disable'),
};

/** @throws SaltInvocationError for another one */
export const profileMode = (given: string): ProfileMode => {
  const found = profileModes.find(mode => mode === given);
  if (found !== undefined) return found;
  throw new SaltInvocationError(
    `'${given}' is not a profile mode. Use one of: ${profileModes.join(', ')}`,
  );
};

/** Returns the kernel's profiles and their modes; undefined if AppArmor is not enabled. */
export const loadedProfiles = (): Record<string, string> | undefined => {
  try {
    const lines = readFileSync(loadedFile, 'utf8').matchAll(/^(.+) \((\w+)\)$/gm);
    return Object.fromEntries([...lines].map(([, name = '', mode = '']) => [name, mode]));
  } catch {
    return undefined;
  }
};

/**
 * Returns the path of a profile file, given by name or path.
 *
 * @throws CommandExecutionError if there is none
 */
export const profileFile = (name: string): string => {
  const path = join(folder, basename(name));
  const isName = name === basename(name) || name === path;
  if (isName && !basename(name).startsWith('.') && isFile(path)) return path;
  throw new CommandExecutionError(`No such profile file: ${isName ? path : name}`);
};

const linkOf = (mode: ProfileMode, file: string): string | undefined => {
  const place = linkFolders[mode];
  return place && join(place, basename(file));
};

/** Returns the mode that a file is loaded in at boot. */
export const modeAtBoot = (file: string): ProfileMode =>
  (['disable', 'complain'] as const).find(mode => linkExists(linkOf(mode, file) ?? '')) ??
  (isComplainMode(file) ? 'complain' : 'enforce');

/** Returns true if the file's text puts a profile into complain mode. */
export const isComplainMode = (file: string): boolean =>
  /^[^#\n]*flags\s*=\s*\([^)]*\bcomplain\b/m.test(readFileSync(file, 'utf8'));

/** Sets the mode that a file is loaded in at boot. */
export const keepMode = (file: string, wanted: ProfileMode): void => {
  for (const mode of profileModes) {
    const link = linkOf(mode, file);
    if (link === undefined) continue;
    if (mode !== wanted) rmSync(link, { force: true });
    else if (!linkExists(link)) {
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(file, link);
    }
  }
};

/**
 * Runs the parser on a file's text: given the file, it passes over one that is disabled.
 *
 * @throws CommandExecutionError with its error message
 */
export const parseText = (file: string, ...words: string[]): Promise<string> =>
  parser(words, readFileSync(file));

/** @throws CommandExecutionError with what the parser says where it fails */
export const parser = async (words: readonly string[], stdin?: Buffer): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(['apparmor_parser', ...words], {
    plainLocale: true,
    ...(stdin === undefined ? {} : { stdin }),
  });
  if (code === 0) return stdout;
  // Drops warnings and messages about a cache that cannot be used.
  const said = stderr.split('\n').filter(line => !/^(?:Cache|Warning)/.test(line));
  throw new CommandExecutionError(said.join('\n').trim() || `apparmor_parser ended with ${code}`);
};
