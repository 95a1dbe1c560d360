import { runCommand } from '../_shared/commands/run-command.ts';
import { which } from '../_shared/commands/which.ts';
import { existsSync } from '../_shared/safe-fs/fs.ts';
import { CommandExecutionError } from '../api.ts';
import { rpmOwner } from './rpm-files.ts';

/**
 * Extracts a file from a package and compares it with the system's; arguments are not interpolated.
 */
const script =
  'rpm2cpio "$1" | cpio -i --quiet --to-stdout ".$2" | diff -u --label "A $2" --from-file=- --label "B $2" "$2"';

/** Compares files with their packages' versions. `download` returns the packages' files. */
export const rpmDiff = async (
  paths: readonly string[],
  download: (names: readonly string[]) => Promise<ReadonlyMap<string, string>>,
): Promise<{ [path: string]: string }> => {
  const told: { [path: string]: string } = {};
  const owners = new Map<string, string>();
  for (const path of paths) {
    const owner = String(await rpmOwner({}, path)).split(',')[0];
    if (owner) owners.set(path, owner);
    else told[path] = existsSync(path) ? 'Not managed' : 'N/A';
  }
  if (owners.size === 0) return told;
  const missing = ['rpm2cpio', 'cpio', 'diff'].filter(program => !which(program));
  if (missing.length > 0)
    throw new CommandExecutionError(`pkg.diff needs ${missing.join(' and ')}: install it first.`);
  const files = await download([...new Set(owners.values())]);
  for (const [path, owner] of owners) {
    const file = files.get(owner);
    if (!file) throw new CommandExecutionError(`The package ${owner} could not be downloaded.`);
    const { stdout, stderr } = await runCommand(['sh', '-c', script, 'sh', file, path], {
      plainLocale: true,
      cwd: '/',
    });
    told[path] = /^Binary file/m.test(stdout)
      ? `File '${path}' is binary and its content has been modified.`
      : stdout || stderr.trim() || 'Unchanged';
  }
  return told;
};
