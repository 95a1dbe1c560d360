import { messageOf } from '../../../../protocol/error.ts';
import { configOption } from '../../../_shared/states/config-option.ts';
import { type PlainDict, SaltInvocationError } from '../../../api.ts';
import { docker, dockerWith } from '../../docker-run.ts';

/** `hub` is Docker's own registry, which is the docker program's default and has no name there. */
const wordsOf = (registry: string): string[] =>
  registry.toLowerCase() === 'hub' ? [] : ['--', registry];

const registriesOf = async (): Promise<{ [registry: string]: PlainDict }> => {
  const found = (await configOption('docker-registries')) || {};
  if (typeof found !== 'object' || Array.isArray(found))
    throw new SaltInvocationError("'docker-registries' Pillar value must be a dictionary");
  return found as { [registry: string]: PlainDict };
};

/**
 * Logs in to registries, by default to all. The pillar contains their `username` and `password`
 * under `docker-registries`, by address; `hub` is Docker's own registry.
 *
 * @param registries the registries
 * @example tsalt-ssh '*' docker.login hub
 */
export const login = async (...registries: string[]) => {
  const Errors: string[] = [];
  const Results: { [registry: string]: boolean } = {};
  const known = await registriesOf();
  for (const registry of registries.length > 0 ? registries : Object.keys(known)) {
    const { username, password } = known[registry] ?? {};
    if (!Object.hasOwn(known, registry)) Errors.push(`No match found for registry '${registry}'`);
    else if (!username || !password)
      Errors.push(`Missing '${username ? 'password' : 'username'}' for registry '${registry}'`);
    else
      try {
        await dockerWith(
          { stdin: String(password) },
          ...['login', `--username=${username}`, '--password-stdin', ...wordsOf(registry)],
        );
        Results[registry] = true;
      } catch (error) {
        Results[registry] = false;
        Errors.push(messageOf(error));
      }
  }
  return { retcode: Errors.length > 0 ? 1 : 0, Errors, Results };
};

/**
 * Logs out of registries, by default of all that the pillar contains under `docker-registries`.
 *
 * @param registries the registries
 * @example tsalt-ssh '*' docker.logout hub
 */
export const logout = async (...registries: string[]) => {
  const Results: { [registry: string]: boolean } = {};
  for (const registry of registries.length > 0 ? registries : Object.keys(await registriesOf())) {
    await docker('logout', ...wordsOf(registry));
    Results[registry] = true;
  }
  return { retcode: 0, Errors: [], Results };
};

/**
 * Returns the versions of docker's components.
 *
 * @example tsalt-ssh '*' docker.version
 */
export const version = async (): Promise<PlainDict> =>
  JSON.parse(await docker('version', '--format={{json .Server}}')) as PlainDict;

/**
 * Returns the engine's information about itself.
 *
 * @example tsalt-ssh '*' docker.info
 */
export const info = async (): Promise<PlainDict> =>
  JSON.parse(await docker('info', '--format={{json .}}')) as PlainDict;
