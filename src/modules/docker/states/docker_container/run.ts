import { messageOf } from '../../../../protocol/error.ts';
import { existsSync } from '../../../_shared/safe-fs/fs.ts';
import { salt } from '../../../_shared/states/call.ts';
import { failed, newReturn, unchanged, would } from '../../../_shared/states/returns.ts';
import { toList } from '../../../_shared/states/values.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../../api.ts';
import { networksOf } from '../../docker-networks.ts';
import { createArgs } from '../../docker-options.ts';

const notHere = ['watch_action', 'start', 'shutdown_timeout', 'follow'];
const ofLogs = ['stdout', 'stderr', 'timestamps', 'tail', 'since', 'until'];

/**
 * Runs a container once, like `docker run`. Its output and exit status are in the changes. Accepts
 * the arguments of `docker_container.running` that define a container, and those of `docker.logs`.
 *
 * @param name the container
 * @param image the image
 * @param bg true: do not wait for it
 * @param failhard false: an exit status other than 0 does not make the state fail
 * @param replace true: remove a container of that name first
 * @param force true: also if that container is running
 * @param creates a path or several: nothing is done if all of them exist
 * @param networks networks to connect it with, as in `docker_container.running`
 * @param auto_remove true: remove it after it has ended; also `rm`
 * @example
 * build-the-package:
 *   docker_container.run:
 *     - image: builder:1
 *     - command: /build.sh
 *     - binds: /srv/out:/out
 *     - creates: /srv/out/app.deb
 *     - replace: true
 */
export const run = async (
  name: string,
  {
    image = null,
    bg = false,
    failhard = true,
    replace = false,
    force = false,
    creates = null,
    networks = null,
    ...settings
  }: {
    image?: string | number | null;
    bg?: boolean;
    failhard?: boolean;
    replace?: boolean;
    force?: boolean;
    creates?: string | string[] | null;
    networks?: Plain;
    [argument: string]: Plain | undefined;
  } = {},
): Promise<StateReturn> => {
  const wrong = notHere.find(key => settings[key] !== undefined);
  if (wrong) return failed(name, `The '${wrong}' argument is not supported`);
  if (image === null) return failed(name, "The 'image' argument is required");
  const paths = creates === null ? [] : [creates].flat();
  if (paths.length > 0 && paths.every(path => existsSync(path)))
    return unchanged(name, `${paths.join(', ')} ${paths.length > 1 ? 'exist' : 'exists'}`);
  try {
    const { rm, auto_remove, ...rest } = settings;
    const made = Object.entries(rest).filter(([key]) => !ofLogs.includes(key));
    createArgs(name, String(image), Object.fromEntries(made) as PlainDict);
    const missing = await missingOf(Object.keys(networksOf(networks)));
    if (missing.length > 0)
      return failed(name, `The following networks are not present: ${missing.join(', ')}`);
    if (__opts__.test)
      return would(name, `Container would be run${bg ? ' in the background' : ''}`);
    if (!(await salt('docker.resolve_image_id')(String(image))))
      await salt('docker.pull')(String(image));
    const changes: PlainDict = await salt('docker.run_container')(String(image), {
      ...rest,
      name,
      bg,
      replace,
      force,
      networks,
      auto_remove: auto_remove === true || rm === true,
    });
    if (bg) return { ...newReturn(name), changes, comment: 'Container was run in the background' };
    return {
      ...newReturn(name),
      changes,
      result: !failhard || changes.ExitCode === 0,
      comment: `Container ran and exited with a return code of ${changes.ExitCode}`,
    };
  } catch (error) {
    return failed(name, `Encountered error running container: ${messageOf(error)}`);
  }
};

const missingOf = async (wanted: string[]): Promise<string[]> => {
  if (wanted.length === 0 || __opts__.test) return [];
  const found: PlainDict[] = await salt('docker.networks')(toList(wanted));
  return wanted.filter(name => !found.some(one => one.Name === name));
};
