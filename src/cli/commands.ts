import type { Config } from '../config/config.ts';
import { closestMatch } from '../data/closest-match.ts';
import { TsaltError } from '../protocol/error.ts';
import { isFunctionName } from '../request/function-name.ts';
import type { Given } from '../request/given.ts';
import type { Sdb } from '../sdb/sdb.ts';
import { printText } from './print-text.ts';

/** The context of a command once the configuration is read. */
export type Opened = {
  readonly given: Given;
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly sdb: Sdb;
};

/** A command with a name of its own instead of a target. */
export type NamedCommand = {
  /** The arguments after `tsalt-ssh` in the usage of `--help`. */
  readonly usage: string;
  readonly summary: string;
  /**
   * Lists the arguments for shell completion by position: literal words, or a kind of argument in
   * brackets (`<host>`, `<function>`, `<folder>`).
   */
  readonly places?: readonly (readonly string[])[];
  /**
   * Carries out the command and returns the exit code. Imports its code dynamically, so that a run
   * on hosts does not load it.
   *
   * @param words the arguments after the command's name
   */
  readonly run: (words: readonly string[], opened: Opened) => Promise<number>;
};

/** A command that works without Saltfile and configuration: both may be broken. */
export type EarlyCommand = Omit<NamedCommand, 'run'> & {
  readonly runEarly: (words: readonly string[], given: Given, env: Env) => Promise<number>;
};

type Env = Opened['env'];

/** Every command by its name. `clean` is a call on hosts: see `callOf`. */
export const commands: Readonly<Record<string, NamedCommand | EarlyCommand>> = {
  completion: {
    usage: 'completion bash|zsh|fish',
    summary: 'print the completion of a shell',
    places: [['bash', 'zsh', 'fish']],
    runEarly: async (words, given, env) =>
      (await import('./completion/completion.ts')).completion(words, given, env, commands),
  },
  hosts: {
    usage: 'hosts [EXPRESSION]',
    summary: 'list the hosts of a target; -v with their addresses',
    run: async (words, opened) => (await import('./list-targets.ts')).listTargets(words, opened),
  },
  'module new': {
    usage: 'module new KIND NAME',
    summary: 'write a new module and its test',
    places: [
      [
        'state',
        'exec',
        'grains',
        'utils',
        'resource',
        'renderer',
        'outputter',
        'matcher',
        'pillar',
        'contract',
      ],
    ],
    run: async (words, { config }) =>
      printText(await (await import('./new-module.ts')).newModule(words, config)),
  },
  init: {
    usage: 'init [DIR]',
    summary: 'write a small project for a first host (--host), and check the login',
    places: [['<folder>']],
    runEarly: async (words, given, env) => (await import('./init.ts')).init(words, given, env),
  },
  doctor: {
    usage: 'doctor <target>',
    summary: 'take the steps of a run to hosts, and explain what fails',
    places: [['<host>']],
    run: async (words, opened) => (await import('./doctor.ts')).doctor(words, opened),
  },
  ssh: {
    usage: 'ssh HOST [COMMAND …]',
    summary: 'log in to a host as the roster says, or run a command there',
    places: [['<host>']],
    run: async (words, opened) => (await import('./ssh.ts')).sshCommand(words, opened),
  },
  console: {
    usage: 'console <target>',
    summary: 'run one function after the other over connections that stay open',
    places: [['<host>']],
    run: async (words, opened) => (await import('./console.ts')).hostConsole(words, opened),
  },
  attach: {
    usage: 'attach [JID]',
    summary: 'show a run that was started with --detach; without JID, list them',
    run: async (words, opened) => (await import('./detach/attach.ts')).attachRun(words, opened),
  },
  'runs show': {
    usage: 'runs show [JID]',
    summary: 'list the hosts of a run by outcome; without JID, of the last one',
    run: async (words, opened) => (await import('./records/list-runs.ts')).showRun(words, opened),
  },
  runs: {
    usage: 'runs',
    summary: 'list the runs of this project; --rerun repeats one on some of its hosts',
    run: async (words, opened) => (await import('./records/list-runs.ts')).listRuns(words, opened),
  },
  watch: {
    usage: 'watch <target> <function> …',
    summary: 'run it again whenever a file of the project changes',
    places: [['<host>'], ['<function>']],
    run: async (words, opened) => (await import('./watch.ts')).watchCall(words, opened),
  },
  show: {
    usage: 'show FILE',
    summary: 'show a plan: text, json, markdown or html (--out)',
    places: [['<file>']],
    run: async (words, opened) => (await import('./plan/show-plan.ts')).showPlanFile(words, opened),
  },
  apply: {
    usage: 'apply FILE',
    summary: 'make the changes of a plan, on hosts that still match it',
    places: [['<file>']],
    run: async (words, opened) => (await import('./plan/apply-plan.ts')).applyPlan(words, opened),
  },
  audit: {
    usage: 'audit [TARGET] [SLS …]',
    summary: 'compare hosts with their states, and with the last audit; changes nothing',
    places: [['<host>']],
    run: async (words, opened) => (await import('./audit.ts')).audit(words, opened),
  },
  'worker key': {
    usage: 'worker key --name SEGMENT',
    summary: 'print the public key of a queue worker, for tsalt.yaml',
    runEarly: async (words, given) => (await import('./worker.ts')).workerKey(words, given),
  },
  worker: {
    usage: 'worker --name SEGMENT --queue redis://HOST --control KEY',
    summary: 'work on the hosts of a segment for a control node',
    runEarly: async (words, given, env) =>
      (await import('./worker.ts')).queueWorker(words, given, env),
  },
  'workers key': {
    usage: 'workers key',
    summary: 'print the public key of this control node, for queue workers',
    run: async (words, opened) => (await import('./worker.ts')).controlKey(words, opened),
  },
  workers: {
    usage: 'workers',
    summary: 'list the live queue workers',
    run: async (words, opened) => (await import('./worker.ts')).listWorkers(words, opened),
  },
  'node fetch': {
    usage: 'node fetch [PLATFORM]',
    summary: 'get Node for hosts without it: linux-x64, linux-arm64',
    places: [['linux-x64', 'linux-arm64']],
    run: async (words, { config }) =>
      printText(await (await import('../control/prepare/fetch-node.ts')).fetchNodes(words, config)),
  },
  validate: {
    usage: 'validate [TARGET] [SLS …]',
    summary: 'check roster, pillar, top file and SLS without any host',
    run: async (words, opened) => (await import('./validate.ts')).validate(words, opened),
  },
  lint: {
    usage: 'lint [TARGET] [SLS …]',
    summary: 'validate, and look for states that are probably wrong',
    run: async (words, opened) => (await import('./validate.ts')).lint(words, opened),
  },
  schema: {
    usage: 'schema sls|roster|config|top|saltfile',
    summary: 'print a JSON Schema for editors',
    places: [['sls', 'roster', 'config', 'top', 'saltfile']],
    run: async (words, { config }) => {
      const { schemaText } = await import('../validate/schemas/schema-command.ts');
      const { saltfileSchema } = await import('./saltfile-schema.ts');
      return printText(await schemaText(words, config, { saltfile: saltfileSchema }));
    },
  },
  lsp: {
    usage: 'lsp [trust|untrust|trusted] [FOLDER]',
    places: [['trust', 'untrust', 'trusted']],
    summary: 'serve an editor: errors, completion, definitions, renaming (see Editors)',
    runEarly: async (words, given, env) =>
      (await import('./lsp/lsp.ts')).languageServer(words, given, env),
  },
  types: {
    usage: 'types [FILE]',
    summary: 'declare the functions of your modules for TypeScript',
    run: async (words, { config }) =>
      printText(await (await import('./write-types.ts')).writeTypes(words, config)),
  },
};

/**
 * Finds the command at the beginning of a command line. Undefined for a call on hosts: its first
 * argument is not a command, or an option sets the target type and a function follows (`-L node
 * test.ping` targets a host of that name).
 */
export const namedCommand = ({
  options,
  words,
}: Given): { command: NamedCommand | EarlyCommand; words: readonly string[] } | undefined => {
  if (options.raw === true || options.local === true) return undefined;
  const isTarget = targetOptions.some(name => options[name] === true);
  if (isTarget && isFunctionName(words[1] ?? '')) return undefined;
  for (const [name, command] of Object.entries(commands)) {
    const own = name.split(' ');
    if (own.every((word, at) => words[at] === word))
      return { command, words: words.slice(own.length) };
  }
  return undefined;
};

/**
 * Recognises a misspelt command, as in `doctr web1`. A call on hosts has a function as its second
 * argument, or `-r`.
 */
export const misspeltCommand = ({ options, words }: Given): TsaltError | undefined => {
  const [first = '', ...rest] = words;
  const isCall = options.raw === true || options.local === true || isFunctionName(first);
  if (isCall || rest.some(isFunctionName)) return undefined;
  const known = [...new Set(Object.keys(commands).map(name => name.split(' ')[0] ?? ''))];
  const meant = closestMatch(first, known);
  if (meant === undefined || meant === first) return undefined;
  return new TsaltError(
    'usage-words',
    `'${first}' is not a command, and as a target it needs a function.`,
    { hint: `Did you mean: tsalt-ssh ${[meant, ...rest].join(' ')}` },
  );
};

const targetOptions = [
  'pcre',
  'list',
  'nodegroup',
  'grain',
  'grain-pcre',
  'pillar',
  'pillar-pcre',
  'ipcidr',
  'compound',
] as const;

/** The usage lines of all commands for `--help`. */
export const commandUsage = (): string => {
  const lines = [
    ...Object.values(commands),
    { usage: 'clean <target>', summary: 'remove what runs leave on the hosts' },
  ];
  const width = Math.max(...lines.map(({ usage }) => usage.length)) + 2;
  return lines
    .map(({ usage, summary }) => `       tsalt-ssh ${usage.padEnd(width)}${summary}`)
    .join('\n');
};
