import { salt } from '../../../_shared/states/call.ts';
import { repackDictList } from '../../../_shared/states/values.ts';
import { type Plain, SaltInvocationError } from '../../../api.ts';
import {
  commandsFor,
  type InstallOptions,
  isRefreshUseful,
  planFiles,
  planNames,
} from '../../apt-plan.ts';
import { apt, heldAmong, normalize } from '../../apt-run.ts';
import { installedNow } from '../../dpkg-list.ts';
import {
  forgetPackages,
  type PackageChanges,
  PackageError,
  packageChanges,
  targetsOf,
} from '../../packages.ts';
import { hold, unhold } from './hold.ts';
import { refresh_db } from './refresh.ts';

/**
 * Installs packages and returns the changes: `{name: {old, new}}`.
 *
 * @param name a package, or several with commas
 * @param refresh true: fetch the package lists first
 * @param fromrepo the release to install from (`apt-get -t`)
 * @param skip_verify true: install without checking signatures
 * @param debconf a `salt://` file with answers for debconf, loaded first
 * @param pkgs names or `{name: version}`; versions may be `>=1.2` or `1.*`
 * @param sources `{name: path or URL}` of package files
 * @param version the version, with `name`
 * @param reinstall true: install packages again that are already installed
 * @param downloadonly true: download only
 * @param install_recommends false: without recommended packages; true: with them
 * @param only_upgrade true: upgrade only, install nothing new
 * @param force_conf_new true: take the package's configuration files instead of keeping changed ones
 * @param cache_valid_time seconds for which the package lists are new enough
 * @param env variables for apt
 * @example tsalt-ssh '*' pkg.install nginx refresh=True
 */
export const install = async (
  name: string | null = null,
  options: InstallOptions = {},
): Promise<PackageChanges> => {
  if (options.pkgs && options.sources)
    throw new SaltInvocationError('Only one of "pkgs" and "sources" can be used.');
  if (options.debconf) await salt('debconf.set_file')(options.debconf);
  const before = await installedNow();
  const plan = options.sources
    ? await planFiles(options, before)
    : await planNames(
        targetsOf(name, options.pkgs, options.version as Plain, normalize),
        options,
        before,
      );
  const commands = commandsFor(plan, options);
  const errors = [...plan.errors];
  if (commands.length === 0) return failOrReturn(errors, {}, 'installing');
  if (options.refresh && (await isRefreshUseful(plan, options)))
    await refresh_db({ cache_valid_time: options.cache_valid_time ?? 0 });
  const held = await heldAmong([...plan.names]);
  if (held.length > 0) await unhold(null, { pkgs: held });
  for (const args of commands) {
    const { code, stdout, stderr } = await apt(args, { env: repackDictList(options.env) });
    if (code !== 0) errors.push(stderr.trim() || stdout.trim().split('\n').slice(-5).join('\n'));
  }
  forgetPackages();
  const after = await installedNow();
  if (held.length > 0) await hold(null, { pkgs: held });
  const changes = packageChanges(before, after);
  for (const again of plan.again.keys())
    changes[again] ??= { old: before[again]?.join(',') ?? '', new: after[again]?.join(',') ?? '' };
  return failOrReturn(errors, changes, 'installing');
};

const failOrReturn = (
  errors: readonly string[],
  changes: PackageChanges,
  what: string,
): PackageChanges => {
  if (errors.length > 0)
    throw new PackageError(`Problem encountered ${what} package(s)`, errors, changes);
  return changes;
};
