import type { Options } from 'yargs';
import { outputNames } from '../output/format.ts';

const target = 'Target selection:';
const run = 'Run:';
const plan = 'Plan (state.apply --plan-out, show, apply):';
const ssh = 'SSH:';
const roster = 'Roster and configuration:';
const output = 'Output:';
const queue = 'Queue workers (worker, workers, --via):';
const checks = 'Checks (validate, lint, audit, lsp):';

const flag = (group: string, describe: string, alias?: string): Options => ({
  type: 'boolean',
  group,
  describe,
  ...(alias === undefined ? {} : { alias }),
});

const text = (group: string, describe: string, alias?: string): Options => ({
  type: 'string',
  group,
  describe,
  requiresArg: true,
  ...(alias === undefined ? {} : { alias }),
});

/** Every option by its long name. Names and letters are Salt's where Salt has the option. */
export const options = {
  pcre: flag(target, 'Target is a regular expression on ids', 'E'),
  list: flag(target, 'Target is a list of ids with commas between', 'L'),
  nodegroup: flag(target, 'Target is the name of a nodegroup', 'N'),
  grain: flag(target, "Target is grain:glob, matched against the hosts' own grains", 'G'),
  'grain-pcre': flag(target, 'Target is grain:regular expression', 'P'),
  pillar: flag(target, 'Target is key:glob in the pillar', 'I'),
  'pillar-pcre': flag(target, 'Target is key:regular expression in the pillar', 'J'),
  ipcidr: flag(target, 'Target is an address or a network', 'S'),
  compound: flag(target, "Target combines the above, like 'G@os:Debian and web*'", 'C'),
  delimiter: text(target, "Between the keys of a nested grain or pillar (default ':')"),
  exclude: text(target, 'Leave out the hosts of this compound expression'),
  limit: text(target, 'Of the target, only hosts of this compound expression, or those in @FILE'),
  hosts: flag(target, 'List the hosts of the roster, or of a target, and run nothing', 'H'),
  'ask-hosts': flag(target, 'hosts: ask the hosts whose grains or pillar decide'),

  raw: { ...flag(run, 'Run the arguments as a shell command', 'r'), alias: ['r', 'raw-shell'] },
  'dry-run': flag(run, 'Change nothing: test=True; refused where there is no test mode'),
  'expect-no-changes': flag(run, 'Run states in test mode; exit code 21 if something would change'),
  'max-procs': text(run, 'How many hosts at the same time (default 25)'),
  workers: text(run, 'Share the hosts among N processes of this machine, or auto: one per core'),
  batch: {
    ...text(run, 'Finish this many hosts (or N%) before the next; 1,5,20% begins with fewer', 'b'),
    alias: ['b', 'batch-size'],
  },
  'batch-mode': {
    ...text(run, 'lockstep (default): batch after batch; sliding: host after host'),
    choices: ['lockstep', 'sliding'],
  },
  'batch-wait': text(run, 'Seconds to wait between batches'),
  'batch-check': text(run, "A function that must succeed on each batch: 'FUNCTION ARGUMENTS'"),
  'batch-ask': flag(run, 'Ask before each further batch'),
  'max-fail': text(run, 'Start no further host once so many have failed (N or N%)'),
  order: {
    ...text(run, 'How hosts follow one another'),
    choices: ['roster', 'alphabetical', 'reverse', 'random'],
  },
  failhard: flag(run, 'Start no further host once one has failed; running ones finish'),
  only: text(run, 'Only these states: IDs or SLS, as globs with commas between'),
  skip: text(run, 'Leave out these states: IDs or SLS'),
  tags: text(run, 'Only states with one of these tags'),
  'skip-tags': text(run, 'Leave out states with one of these tags'),
  from: text(run, 'Begin with this state'),
  until: text(run, 'End with this state'),
  'no-deps': flag(run, 'Leave out what the selected states require'),
  step: flag(run, 'Show what each state would change, and ask before it runs'),
  strict: flag(run, 'Refuse state arguments that would be ignored'),
  guard: text(
    run,
    'Roll back changes that lock the control node out, unless it can log in again within SECONDS',
    'rollback',
  ),
  detach: flag(run, 'Go on without this terminal; prints the job id for tsalt-ssh attach'),
  timeout: text(run, 'Seconds that one host may take in all'),
  jid: text(run, 'Use this job id'),
  'no-parse': text(run, 'key=value arguments to keep as text, names with commas between'),
  wipe: flag(run, 'Remove the workspace from the hosts after the run', 'w'),
  'rand-thin-dir': flag(run, 'Use a workspace with a random name, and remove it', 'W'),
  'regen-thin': { ...flag(run, 'Build the bundle again', 't'), alias: ['t', 'thin', 'regen'] },
  'pre-flight': flag(run, "Run the roster's ssh_pre_flight script even where it has run"),
  orch: text(run, 'Run an orchestration: SLS with steps on hosts, on this machine'),
  rerun: text(
    run,
    'Repeat a run on its failed, changed, unreachable or skipped hosts: CLASS[@JID]',
  ),
  resume: text(run, 'Run the steps that an orchestration with this job id did not finish'),
  local: flag(run, 'Run on this machine, without SSH: the same as target @local'),

  'plan-out': text(plan, 'Run states in test mode, and write a plan of it to this file'),
  'plan-expires': text(plan, 'How long the plan may be applied: 30m, 24h (default), 7d'),
  'plan-recipient': text(plan, 'Encrypt the plan to these keys of age, age1… with commas between'),
  identity: text(plan, 'show, apply: the file with the key of age for an encrypted plan'),
  drift: {
    ...text(
      plan,
      'apply: what to do after a host that differs: stop (default) starts no other host',
    ),
    choices: ['stop', 'continue'],
  },
  ask: flag(plan, 'Show what states would change, ask, and change exactly that'),
  yes: flag(plan, '--ask: do not ask'),

  user: text(ssh, 'Login name where the roster has none'),
  port: text(ssh, 'Port where the roster has none'),
  priv: text(ssh, 'Private key where the roster has none'),
  askpass: flag(ssh, 'Ask for the password, once for all hosts'),
  'passwd-from': text(ssh, 'Where the password is: env:NAME, file:PATH, fd:NUMBER, command:WORDS'),
  'priv-passwd-from': text(ssh, 'Where the passphrase of the key is (forms as above)'),
  'sudo-passwd-from': text(ssh, 'Where the password for sudo is (forms as above)'),
  sudo: flag(ssh, 'Become root by sudo where the roster does not say'),
  'identities-only': flag(ssh, 'Use only the configured keys, not all of the agent'),
  'key-deploy': flag(ssh, 'Write the public key to hosts that refuse it, logging in by password'),
  'no-ssh-config': flag(ssh, "Read no ssh configuration, neither yours nor the system's"),
  'accept-new-host-keys': flag(ssh, 'Trust and remember host keys that are not known yet'),
  'ignore-host-keys': flag(ssh, 'Check no host key: anybody could answer', 'i'),
  transport: { ...text(ssh, 'How to connect'), choices: ['ssh2', 'openssh'] },
  'ssh-option': {
    ...text(ssh, 'An OpenSSH option Name=value; may be given again'),
    array: true,
    nargs: 1,
  },
  'remote-port-forwards': text(ssh, 'Tunnels from the host, PORT:HOST:PORT with commas between'),
  'disable-keepalive': flag(ssh, 'Send no keepalives of SSH'),
  'keepalive-interval': text(ssh, 'Seconds between keepalives of SSH'),
  'keepalive-count-max': text(ssh, 'Keepalives without an answer until a connection is given up'),
  'node-bin': text(ssh, 'Path of Node on the hosts'),

  config: {
    ...text(roster, 'Folder with tsalt.yaml, or that file', 'c'),
    alias: ['c', 'config-dir'],
  },
  roster: text(roster, 'Roster backends, names with commas between'),
  'trust-owner': text(
    roster,
    "Use configuration of these users too: names or uids with commas between, or 'anyone'",
  ),
  'roster-file': text(roster, 'Roster file, folder, script or network'),
  host: text(roster, 'First host of a new project (init): user@address:port, or @local'),
  'update-roster': flag(roster, 'Write hosts that are in no roster into it, without any secret'),
  'scan-ports': text(roster, 'Ports that --roster scan tries, with commas between (default 22)'),
  'scan-timeout': text(roster, 'Seconds that --roster scan waits for an answer (default 1)'),
  refresh: {
    ...flag(roster, 'Ask hosts for their grains again, as every run does'),
    alias: ['refresh-cache'],
  },
  saltfile: text(roster, 'File with options for every run (./Saltfile or ~/.salt/Saltfile)'),

  out: {
    ...text(output, `Format: ${outputNames.join(', ')}, or a custom outputter`),
    alias: ['output'],
  },
  'out-indent': text(output, "Indent of json and yaml; below 0: one line; 'pretty': sorted"),
  'out-file': { ...text(output, 'Write the output to this file'), alias: ['output-file'] },
  'out-file-append': { ...flag(output, 'Append to the file'), alias: ['output-file-append'] },
  report: text(
    output,
    'Write reports too: FORMAT=FILE with commas between; html, junit, json, ndjson or markdown',
  ),
  return: text(
    output,
    'Send the returns of hosts to returners too: sqlite, webhook, otlp or yours',
  ),
  static: flag(output, 'One document for all hosts, at the end', 's'),
  stream: flag(output, 'Show what commands of states print while they run (also with -v)'),
  fold: flag(output, 'Show equal results once, and a recap; at a terminal this is the default'),
  'no-fold': flag(output, 'Show each result in full, without a recap'),
  'no-color': { ...flag(output, 'No colours'), alias: ['no-colour'] },
  'force-color': { ...flag(output, 'Colours even into a pipe'), alias: ['force-colour'] },
  'state-output': {
    ...text(output, 'full, terse, mixed, changes or filter, also with _id'),
    alias: ['state_output'],
  },
  'state-verbose': {
    ...text(output, 'Show states that changed nothing: True or False'),
    alias: ['state_verbose'],
  },
  verbose: flag(output, 'Show the job id and a timeline of each host', 'v'),
  'log-level': text(output, 'Log to stderr from this level on (default warning)', 'l'),
  'log-format': {
    ...text(output, 'text (default), or json: a line of JSON for each event, also in the log file'),
    choices: ['text', 'json'],
  },
  'log-file': text(output, 'Log to this file'),
  'log-file-level': text(output, 'Level of the log file (default warning)'),

  via: text(queue, 'Reach the hosts by the workers of this segment'),
  queue: text(queue, 'The queue: redis://HOST:PORT, rediss:// for TLS, env:NAME or file:PATH'),
  name: text(queue, 'worker: the segment that it works for'),
  control: text(queue, 'worker: public keys of control nodes, with commas between'),
  concurrency: text(queue, 'worker: the most hosts at the same time (default 25)'),
  'worker-dir': text(queue, 'worker: its folder for keys and what it keeps of runs'),

  grains: text(checks, 'Check hosts as these systems: debian-12,ubuntu-24.04,rocky-9,alpine-3 …'),
  'grains-from': text(checks, 'Check hosts with the grains of a file (output of grains.items)'),
  cached: flag(checks, 'Check only hosts whose grains an earlier run has kept'),
  lint: flag(checks, 'validate: apply the rules of lint as well'),
  fix: flag(checks, 'Correct findings of lint that can be corrected safely'),
  watch: flag(checks, 'Check again after each change of a file'),
  stdio: flag(checks, 'lsp: serve over standard input and output, which is the default'),
  trust: flag(checks, 'lsp: run the code of all folders that the editor opens'),
  untrusted: flag(checks, 'lsp: run no code of folders, trusted ones included'),
  prometheus: text(
    checks,
    "audit, workers: write metrics to this file, for node_exporter's textfile collector",
  ),
  answers: text(checks, 'File with results of functions that templates call on hosts'),

  version: flag('Information:', 'Show the version'),
  'versions-report': flag('Information:', 'Show the versions of everything that matters'),
  help: flag('Information:', 'Show this text', 'h'),
} as const satisfies Record<string, Options>;

export type OptionName = keyof typeof options;
