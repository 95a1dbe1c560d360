import { dirname, join } from 'node:path';
import type { Options } from 'yargs';
import type { Config } from '../../config/config.ts';
import { knownModules } from '../../control/prepare/known-modules.ts';
import { moduleName } from '../../data/signatures/module-docs.ts';
import { FileRoots, statesAmong } from '../../fileserver/file-roots.ts';
import type { FunctionMeta, ModuleMeta, Param } from '../../protocol/meta.ts';
import type { Given } from '../../request/given.ts';
import { options } from '../../request/options.ts';
import { renderRoster, textRenderers } from '../../request/render-roster.ts';
import { defaultsOf, rosterSources } from '../../request/rosters.ts';
import { backendOf, mergeRosters } from '../../roster/load.ts';
import { optionValues } from './option-values.ts';

/** The commands by name, with the arguments that may follow each, by position. */
export type CompletedCommands = Readonly<
  Record<string, { readonly summary: string; readonly places?: readonly (readonly string[])[] }>
>;

/** The project to index. */
export type IndexedProject = {
  readonly given: Given;
  readonly commands: CompletedCommands;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Undefined while the configuration cannot be read. */
  readonly config?: Config;
};

type Line = readonly string[];

/**
 * Returns the index that `answer.sh` reads: a line for each option, host, function, argument …,
 * with tab-separated fields. The first lines are the key and the sources, so that the shell itself
 * can check whether the index is up to date. No code of the user is executed.
 */
export const indexText = async (key: string, project: IndexedProject): Promise<string> => {
  const { config } = project;
  const sources = new Set([process.cwd()]);
  const lines: Line[] = [
    ...optionLines(),
    ...commandLines(project.commands),
    ...valueLines(),
    ...placeLines,
  ];
  if (config !== undefined) {
    sources.add(config.dir);
    if (config.file !== undefined) sources.add(config.file);
    lines.push(...(await hostLines(project, config, sources)));
    lines.push(...(await stateLines(config, sources)));
    lines.push(...(await functionLines(config, sources)));
  }
  const { saltfile } = project.given;
  if (saltfile !== undefined) sources.add(saltfile.file);
  // An update of the program makes its file newer.
  for (const path of process.argv.slice(1, 2)) sources.add(path);
  const watched = [...sources].filter(path => !/[\n\t]/.test(path)).map(path => ['w', path]);
  return [['k', key], ...watched, ...lines].map(line => `${line.join('\t')}\n`).join('');
};

const optionLines = (): Line[] =>
  Object.entries<Options>(options).flatMap(([name, option]) => {
    const { type, alias, choices, describe = '' } = option;
    const values = choices?.map(String) ?? optionValues[name as keyof typeof options];
    const takes =
      type === 'boolean' ? '' : Array.isArray(values) ? name : ((values as string) ?? 'files');
    const names = [name, ...[alias ?? []].flat()].map(one =>
      one.length === 1 ? `-${one}` : `--${one}`,
    );
    return names.map(one => [
      'o',
      one,
      takes,
      oneLine(describe),
      // Other long names work, but are not offered beside the first one.
      one.length > 2 && one !== `--${name}` ? 'other' : '',
    ]);
  });

const valueLines = (): Line[] =>
  Object.entries<Options>(options).flatMap(([name, { choices }]) => {
    const values = choices?.map(String) ?? optionValues[name as keyof typeof options];
    return Array.isArray(values) ? values.map(value => ['value', name, value, '']) : [];
  });

const commandLines = (commands: CompletedCommands): Line[] =>
  [...Object.entries(commands), ['clean', cleanCommandHelp] as const].map(
    ([name, { summary, places = [] }]) => [
      'c',
      name,
      summary,
      places.map(choices => choices.join('\x1d')).join('\x1c'),
    ],
  );

const cleanCommandHelp = {
  summary: 'remove what runs leave on the hosts',
  places: [['<host>']],
};

const placeLines: readonly Line[] = [
  ['place', '@local', 'this machine, without SSH'],
  ['place', '@chroot/', 'a system in a folder'],
  ['place', '@docker/', 'a running container of Docker'],
  ['place', '@podman/', 'a running container of Podman'],
];

/** Backends that run programs, which pressing Tab must not do. */
const running: ReadonlySet<string> = new Set(['script', 'module', 'scan']);

const hostLines = async (
  { given, env }: IndexedProject,
  config: Config,
  sources: Set<string>,
): Promise<Line[]> => {
  const groups = new Map(Object.entries(config.nodegroups));
  const lines: Line[] = [];
  // A roster with another renderer is left out.
  const render = renderRoster({ ...config, renderer_whitelist: textRenderers });
  for (const one of rosterSources(given, config)) {
    const { source } = one;
    const backend = one.backend === '' ? backendOf(source) : one.backend;
    if (running.has(backend)) continue;
    sources.add(source).add(dirname(source));
    try {
      const { hosts, groups: found } = await mergeRosters({
        sources: [{ backend, source }],
        ...defaultsOf({ given, config }),
        render,
        env,
        resolve: async data => data,
      });
      for (const { host } of hosts) lines.push(['host', host.id, host.host]);
      for (const [name, hosts] of Object.entries(found)) groups.set(name, hosts);
    } catch {
      // A run reports the error.
    }
  }
  for (const [name, parts] of groups) lines.push(['group', name, [parts].flat().join(' ')]);
  return lines.map(line => line.map(oneLine));
};

const mostStates = 2000;
const longestState = 256 * 1024;

const stateLines = async (config: Config, sources: Set<string>): Promise<Line[]> => {
  const files = new FileRoots(config.file_roots, config);
  const lines: Line[] = [];
  for (const saltenv of files.envs()) {
    if (saltenv !== '__env__') lines.push(['env', saltenv, '']);
    const folders = files.folders(saltenv);
    for (const folder of folders) sources.add(folder).add(dirname(folder));
    try {
      for (const dir of files.listDirs(saltenv))
        for (const folder of folders) sources.add(join(folder, dir));
      const states = files.list(saltenv).filter(path => path.endsWith('.sls'));
      for (const path of states) lines.push(['sls', statesAmong([path])[0] ?? '', path]);
      for (const path of states.slice(0, mostStates)) {
        const found = files.find(path, saltenv);
        if (found === undefined || found.size > longestState) continue;
        sources.add(found.path);
        const name = statesAmong([path])[0] ?? '';
        for (const id of idsIn(files.read(path, saltenv))) lines.push(['id', id, name]);
      }
    } catch {
      // A folder that does not exist, or that another user could write: a run reports it.
    }
  }
  return lines.map(line => line.map(oneLine));
};

/** Finds ids that the file contains literally: keys at the left margin. */
const idsIn = (text: string): string[] =>
  [...text.matchAll(/^(['"]?)([^\s#'"{%&!*?-][^'"{%\n:]*)\1:(?: .*)?$/gm)]
    .map(([, , id = '']) => id.trim())
    .filter(id => !['include', 'extend', 'exclude'].includes(id));

const functionLines = async (config: Config, sources: Set<string>): Promise<Line[]> => {
  const modules = await knownModules(config).catch((): readonly ModuleMeta[] => []);
  for (const { path, builtin } of modules) if (!builtin) sources.add(path).add(dirname(path));
  const lines: Line[] = [];
  for (const [kind, fun, argument] of [
    ['exec', 'fun', 'arg'],
    ['state', 'statefun', 'statearg'],
  ] as const) {
    const usable = modules.filter(module => module.kind === kind && module.broken === undefined);
    if (kind === 'exec')
      for (const module of usable)
        lines.push(['modhelp', `${moduleName(module)}.`, summaryOf(module.doc)]);
    const byName = new Map<string, FunctionMeta[]>();
    for (const module of usable)
      for (const one of module.functions) {
        const name = `${moduleName(module)}.${one.name}`;
        byName.set(name, [...(byName.get(name) ?? []), one]);
      }
    for (const [name, all] of [...byName].sort(([a], [b]) => (a < b ? -1 : 1))) {
      lines.push([fun, name, summaryOf(all.find(({ doc }) => doc)?.doc)]);
      // Several modules with the same name, such as those of pkg: only the host decides between
      // them.
      const params = new Map(all.flatMap(paramsOf).map(param => [param.name, param]));
      for (const [key, { doc, type }] of params)
        lines.push([argument, name, `${key}=`, summaryOf(doc), choicesOf(type)]);
      if (kind === 'state' && !params.has('test'))
        lines.push([argument, name, 'test=', '', 'True False']);
    }
  }
  return lines;
};

const paramsOf = ({ signature }: FunctionMeta): readonly Param[] => [
  ...signature.positional,
  ...(signature.keywords ?? []),
];

/** Lists the values of a type that has only a few: `boolean`, `'a' | 'b'`. */
const choicesOf = (type = ''): string =>
  type
    .split('|')
    .map(part => part.trim())
    .flatMap(part =>
      part === 'boolean' ? ['True', 'False'] : (/^(['"])([\w.-]+)\1$/.exec(part)?.[2] ?? []),
    )
    .join(' ');

const longest = 90;

/** Returns the first sentence. */
const summaryOf = (doc = ''): string => {
  const text = oneLine(doc);
  const end = /\.(?= |$)/.exec(text)?.index ?? text.length;
  return text.slice(0, Math.min(end, longest));
};

/** Replaces characters that would end a field or steer a terminal by spaces. */
const oneLine = (text: string): string =>
  text
    .replace(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 400);
