import { dirname, join, resolve } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import { type Data, isDict } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import { renderRoster, textRenderers } from '../../request/render-roster.ts';
import { defaultsOf, rosterLocations } from '../../request/rosters.ts';
import { entriesOf, isTemplate, parseFlatRoster } from '../../roster/backends/flat.ts';
import { mergeRosters } from '../../roster/load.ts';
import { type Finding, findingOfError } from '../../validate/findings.ts';
import { configSchema, rosterSchema } from '../../validate/schemas/project-schemas.ts';
import { loadYaml } from '../../yaml/load.ts';
import type { Opened } from '../commands.ts';
import { readSection } from '../saltfile.ts';
import { saltfileSchema } from '../saltfile-schema.ts';

type Env = Opened['env'];

/** A file of the project that is not in the roots, for editors. */
export type ProjectFileKind = 'config' | 'roster' | 'saltfile';

/** Errors that are looked for in one file. */
const mostErrors = 20;

/** Finds out which file of the project a path is. Rosters of other formats than YAML are none. */
export const projectFileKind = (path: string, opened: Opened): ProjectFileKind | undefined => {
  const { config } = opened;
  if (path === (config.file ?? join(config.dir, 'tsalt.yaml'))) return 'config';
  if (path === join(config.dir, 'Saltfile')) return 'saltfile';
  const isRoster = rosterLocations(opened).sources.some(one => resolve(config.dir, one) === path);
  return isRoster && /\.ya?ml$|\/roster$/.test(path) ? 'roster' : undefined;
};

export const projectFileSchemas = {
  config: configSchema,
  roster: rosterSchema,
  saltfile: saltfileSchema,
};

/** The errors in the text of a file of the project, as an editor has it. */
export const checkProjectFile = async (
  kind: ProjectFileKind,
  path: string,
  text: string,
  opened: Opened,
): Promise<readonly Finding[]> => {
  if (kind !== 'roster' && isTemplate(text)) return [];
  try {
    return await checks[kind](path, text, opened);
  } catch (error) {
    return [findingOfError(kind, error)];
  }
};

type Check = (path: string, text: string, opened: Opened) => Promise<readonly Finding[]>;

const checkRoster: Check = async (path, text, opened) => {
  const { hosts } = await mergeRosters({
    ...defaultsOf(opened),
    sources: [],
    entries: entriesOf(await rosterData(path, text, opened), path),
    // Secrets and addresses of stores are not looked up while somebody types.
    resolve: async data => data,
    render: async () => null,
    env: opened.env,
    keepFaults: true,
  });
  return hosts.flatMap(({ fault }) => (fault ? [findingOfError('roster', fault)] : []));
};

/** The data of a roster; none if a program would have to run to render it. */
const rosterData = async (path: string, text: string, { config }: Opened): Promise<Data> => {
  const allowed = config.renderer_whitelist;
  const harmless = textRenderers.filter(one => allowed.length === 0 || allowed.includes(one));
  // An empty list would allow all.
  if (harmless.length === 0) return null;
  const render = renderRoster({ ...config, renderer_whitelist: harmless });
  try {
    return await parseFlatRoster(text, path, render);
  } catch (error) {
    if (error instanceof TsaltError && error.code === 'pipe-disallowed') return null;
    throw error;
  }
};

const checkConfig: Check = async (path, text, { env }) => {
  const data = loadYaml(text, { file: path });
  if (data === null) return [];
  if (!isDict(data))
    throw new TsaltError('config-shape', 'The configuration must be a mapping of options.', {
      at: { file: path, line: 1 },
    });
  return collect(path, data, () =>
    loadConfig({ given: data, givenFile: path, cwd: dirname(path), env: withoutConfig(env) }),
  );
};

const withoutConfig = ({ TSALT_CONFIG_DIR: _, ...env }: Env): Env => env;

const checkSaltfile: Check = async (path, text) => {
  const data = loadYaml(text, { file: path });
  const section = isDict(data) ? (data.get('salt-ssh') ?? data.get('tsalt-ssh')) : undefined;
  return collect(path, isDict(section) ? section : new Map(), () => readSection(data, path));
};

const checks: Readonly<Record<ProjectFileKind, Check>> = {
  config: checkConfig,
  roster: checkRoster,
  saltfile: checkSaltfile,
};

/** Reads again without the key of each error, so that all errors are found. */
const collect = (file: string, data: Map<unknown, unknown>, read: () => unknown): Finding[] => {
  const findings: Finding[] = [];
  while (findings.length < mostErrors)
    try {
      read();
      break;
    } catch (error) {
      const finding = findingOfError(file.endsWith('Saltfile') ? 'saltfile' : 'config', error);
      findings.push(finding);
      const key = [...data.keys()].find(one => finding.message.includes(`'${String(one)}'`));
      if (key === undefined) break;
      data.delete(key);
    }
  return findings.sort((a, b) => (a.at?.line ?? 0) - (b.at?.line ?? 0));
};
