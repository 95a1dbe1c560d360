import { existsSync, lstatSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { dumpYaml } from '../data/formats/yaml-dump.ts';
import { openProject } from '../library/open-project.ts';
import { TsaltError } from '../protocol/error.ts';
import type { Given } from '../request/given.ts';
import { asUsage } from '../request/usage.ts';
import { isId, readAddress } from '../roster/address.ts';
import { checkTrusted } from '../trust/check.ts';
import { makeFolder } from '../trust/make-folder.ts';
import { diagnosisText, examine } from './doctor.ts';
import { exitCode, exitCodeOfKind } from './exit-code.ts';
import { printText } from './print-text.ts';
import { print } from './standard-output.ts';

type Env = Readonly<Record<string, string | undefined>>;

type NewFile = { readonly path: string; readonly text: string; readonly about: string };

/**
 * `init [DIR]`: writes a small project for a first host, checks the login and explains its steps.
 *
 * @returns 0, or the exit code that a run on the host would have
 * @throws TsaltError `usage-…`, `init-exists`
 */
export const init = async (words: readonly string[], given: Given, env: Env): Promise<number> => {
  if (words.length > 1)
    throw new TsaltError('usage-words', 'init takes one folder.', {
      hint: 'tsalt-ssh init DIR --host user@address',
    });
  const dir = resolve(words[0] ?? '.');
  checkFree(dir);
  const host = firstHost(await hostText(given));
  const files = projectFiles(host);
  const ignore = join(dir, '.gitignore');
  const hasIgnore = existsSync(ignore);
  const written = files.filter(({ path }) => path !== '.gitignore' || !hasIgnore);
  await asUsage(() => {
    for (const { path, text } of written) write(join(dir, path), text);
  });
  print(`Wrote to ${dir}:\n`);
  print(written.map(({ path, about }) => `  ${path.padEnd(20)}${about}\n`).join(''));
  if (hasIgnore) print('  .gitignore existed already and was not changed.\n');
  print('\nChecking the login …\n');
  const code = await check(dir, host.id, given, env);
  const folder = relative(process.cwd(), dir);
  const next = [
    ...(folder === '' ? [] : [[`cd ${folder}`, '']]),
    ...(code === exitCode.hostKey
      ? [[`tsalt-ssh --accept-new-host-keys ${host.id} test.ping`, 'once the fingerprint is right']]
      : code === exitCode.ok
        ? []
        : [[`tsalt-ssh doctor ${host.id}`, 'until the login works']]),
    ["tsalt-ssh '*' state.apply test=True", 'shows what would change'],
    ["tsalt-ssh '*' state.apply", 'changes it'],
  ];
  const lines = next.map(([line = '', about = '']) => `  ${line.padEnd(37)}${about}`.trimEnd());
  return printText(`\nNext:\n${lines.join('\n')}\n`, code);
};

const rosterNames = ['roster.yaml', 'roster.yml', 'roster'];

/** Refuses folders that may contain a project already. */
const checkFree = (dir: string): void => {
  const stat = lstatSync(dir, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isDirectory())
    throw new TsaltError('init-exists', `${dir} is not a folder.`, { kind: 'usage' });
  const taken = [...rosterNames, 'tsalt.yaml', 'states', 'pillar'].filter(name =>
    existsSync(join(dir, name)),
  );
  if (taken.length > 0)
    throw new TsaltError(
      'init-exists',
      `${dir} already contains a project (${taken.join(', ')}); nothing was written.`,
      { kind: 'usage', hint: 'Name another folder: tsalt-ssh init DIR' },
    );
  checkTrusted(join(dir, 'roster.yaml'), 'The roster');
};

const example = 'tsalt-ssh init --host deploy@192.0.2.10';

const hostText = async ({ options: { host } }: Given): Promise<string> => {
  if (typeof host === 'string') return host;
  if (process.stdin.isTTY !== true)
    throw new TsaltError('usage-words', 'Name the first host: there is no terminal to ask at.', {
      hint: `${example}; --host @local is this machine`,
    });
  const answer = await ask('First host (user@address, or @local for this machine): ');
  if (answer !== '') return answer;
  throw new TsaltError('usage-words', 'A project needs a first host.', { hint: example });
};

const ask = async (question: string): Promise<string> => {
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await reader.question(question)).trim();
  } finally {
    reader.close();
  }
};

type FirstHost = { readonly id: string; readonly keys: ReadonlyMap<string, string | number> };

const firstHost = (text: string): FirstHost => {
  if (text === '@local')
    return {
      id: 'local',
      keys: new Map([
        ['host', 'localhost'],
        ['transport', 'local'],
      ]),
    };
  const address = readAddress(text);
  const label = address?.host.split('.')[0] ?? '';
  const id = address !== undefined && isIP(address.host) === 0 && isId(label) ? label : 'host1';
  if (address === undefined)
    throw new TsaltError('usage-value', `'${text}' is not the address of a host.`, {
      hint: `Write user@address, user@address:port or @local: ${example}`,
    });
  return { id, keys: new Map<string, string | number>(Object.entries(address)) };
};

const projectFiles = ({ id, keys }: FirstHost): readonly NewFile[] => [
  {
    path: 'roster.yaml',
    about: `your hosts: ${id}`,
    text: `# Your hosts. Each has an id, by which you name it, and how to log in to it.\n${dumpYaml(new Map([[id, new Map(keys)]]), { defaultFlowStyle: false })}`,
  },
  {
    path: 'states/top.sls',
    about: 'which states each host gets',
    text: "# Which states each host gets: targets, and the SLS files for them.\nbase:\n  '*':\n    - hello\n",
  },
  {
    path: 'states/hello.sls',
    about: 'states: what a host should be like',
    text: '# What a host should be like. This is a Liquid template; a first line #!jinja|yaml makes it Jinja.\n/var/tmp/hello-from-tsalt-ssh.txt:\n  file.managed:\n    - contents: {{ pillar.greeting | json }}\n',
  },
  {
    path: 'pillar/top.sls',
    about: 'which data each host gets',
    text: "# Which data each host gets. Only the host itself sees it: the place for secrets.\nbase:\n  '*':\n    - common\n",
  },
  { path: 'pillar/common.sls', about: 'data for states', text: 'greeting: Hello from tsalt-ssh\n' },
  {
    path: '.gitignore',
    about: 'keeps caches out of Git',
    text: '/cache/\n/node_modules/\n',
  },
];

const write = (path: string, text: string): void => {
  makeFolder(dirname(path));
  const mode = path.endsWith('roster.yaml') ? 0o600 : 0o644;
  writeFileSync(path, text, { flag: 'wx', mode });
};

/** Takes the steps of a run to the new host; asks whether an unknown host key is right. */
const check = async (dir: string, id: string, given: Given, env: Env): Promise<number> => {
  const project = await openProject({ cwd: dir, env, path: dir });
  const look = async (options: Given['options']): Promise<{ code: number; isNew: boolean }> => {
    let [code, isNew]: [number, boolean] = [exitCode.ok, false];
    await examine(id, { ...project, env, given: { ...given, options } }, diagnosis => {
      print(diagnosisText(diagnosis));
      if (diagnosis.failure === undefined) return;
      code = exitCodeOfKind(diagnosis.failure.kind);
      isNew = diagnosis.failure.code === 'host-key-unknown';
    });
    return { code, isNew };
  };
  // Folder and roster are the ones just written.
  const { config: _, roster: __, 'roster-file': ___, ...options } = given.options;
  const first = await look(options);
  if (!first.isNew || process.stdin.isTTY !== true) return first.code;
  const answer = await ask('Is this the fingerprint of the host, and do you trust it? [y/N] ');
  if (!/^y(?:es)?$/i.test(answer)) return first.code;
  return (await look({ ...options, 'accept-new-host-keys': true })).code;
};
