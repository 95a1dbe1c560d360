import { type Breakage, killedBy } from '../breakage.ts';

/** Guards on the managed host. */
export const managed: readonly Breakage[] = [
  ...killedBy(
    'test/host/states/foreign-paths.test.ts',
    '%s of %s leaves what a link of the user leads to',
    [
      {
        file: 'src/modules/_shared/safe-fs/links.ts',
        find: 'if (first === undefined) return;',
        replace: 'return;',
      },
    ],
  ),
  ...killedBy(
    'test/host/states/foreign-paths.test.ts',
    'ssh_auth.present does not follow ~/.ssh to where other accounts have their keys',
    [
      {
        file: 'src/modules/_shared/safe-fs/open-parent.ts',
        find: 'if (keeper !== 0) links.push({ path: real, target, keeper });',
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/states/foreign-paths.test.ts',
    'a link of the user to what is the user’s own is followed, but not for another user',
    [
      {
        file: 'src/modules/_shared/safe-fs/links.ts',
        find: 'if (isOwn && isFor(low?.user ?? low?.owner, keeper)) return;',
        replace: 'if (isOwn) return;',
      },
    ],
  ),
  ...killedBy(
    'test/host/states/foreign-paths.test.ts',
    "a hard link to a file of root does not change that file's owner",
    [
      {
        file: 'src/modules/_shared/safe-fs/open.ts',
        find: 'if (found.nlink < 2 || found.isDirectory() || found.uid === place.owner) return;',
        replace: 'return;',
      },
    ],
  ),
  ...killedBy(
    'test/host/states/foreign-paths.test.ts',
    'a user’s setuid program does not become one of another owner',
    [{ file: 'src/modules/_shared/files/check-perms.ts', find: 'mode & ~0o6000', replace: 'mode' }],
  ),
  ...killedBy(
    'test/host/states/foreign-paths.test.ts',
    'runas puts the user’s variables in force only after the change of the user',
    [
      {
        file: 'src/modules/_shared/commands/run-command.ts',
        find: 'const outer = changer ? behindChange(changer, argv, env) :',
        replace: 'const outer = changer ? { argv: [...changer, ...argv] as const, env } :',
      },
    ],
  ),
  ...killedBy(
    'test/unit/states/one-line.test.ts',
    '%s refuses a newline, before anything is written: %j',
    [
      {
        file: 'src/modules/_shared/text/one-line.ts',
        find: "if (typeof one === 'string' && /[\\n\\r\\0]/.test(one))",
        replace: 'if (false)',
      },
    ],
  ),
  ...killedBy(
    'test/unit/architecture.test.ts',
    'modules reach files of the host through safe-fs only',
    [
      {
        file: 'src/modules/_shared/commands/run-lock.ts',
        find: "} from '../safe-fs/fs.ts';",
        replace: "} from 'node:fs';",
      },
    ],
  ),
  ...killedBy(
    'test/host/states/git.test.ts',
    '%s is refused as a repository, and nothing of it runs: %s',
    [
      {
        file: 'src/modules/git/git-run.ts',
        find: '`protocol.${name}.allow=never`',
        replace: '`protocol.${name}.allow=always`',
      },
    ],
  ),
  ...killedBy(
    'test/host/states/git.test.ts',
    'a password in the address of a repository is neither an argument of a process nor kept',
    [
      {
        file: 'src/modules/git/git-run.ts',
        find: "talksToRemotes.has(args[0] ?? '') ? splitLogin(word) : { url: word },",
        replace: '({ url: word }),',
      },
    ],
  ),
  ...killedBy(
    'test/unit/states/web-source.test.ts',
    'a source without a hash is refused unless the state accepts it',
    [
      {
        file: 'src/modules/_shared/sources/file-source.ts',
        find: 'if (!wanted && !options.skip_verify && !options.use_etag)',
        replace: 'if (false)',
      },
    ],
  ),
  ...killedBy(
    'test/host/modules/docker.test.ts',
    'variables, labels, options of volumes and arguments of builds are in no argument',
    [
      {
        file: 'src/modules/docker/docker-secrets.ts',
        find: 'if (kind === undefined || cut < 1) open.push(word);',
        replace: 'if (true) open.push(word);',
      },
    ],
  ),
  ...killedBy(
    'test/host/modules/pip.test.ts',
    'a package whose address has a password is named to pip in a file',
    [
      {
        file: 'src/modules/python_pkg/exec/pip/install.ts',
        find: 'return lines.some(hasPassword)',
        replace: 'return false',
      },
    ],
  ),
  ...killedBy(
    'test/host/modules/languages.test.ts',
    'a password in the address of a source is not an argument of gem',
    [
      {
        file: 'src/modules/ruby/exec/gem.ts',
        find: 'const words = args.some(hasPassword)',
        replace: 'const words = false',
      },
    ],
  ),
  ...killedBy('test/host/states/archive.test.ts', 'a path that leads outside (%s) is refused', [
    {
      file: 'src/modules/archive/archive-file.ts',
      find: "if (name.startsWith('/') || name.split('/').includes('..') || name.includes('\\0'))",
      replace: 'if (false)',
    },
  ]),
  ...killedBy(
    'test/host/states/archive.test.ts',
    'nothing is written through a link that the archive brings',
    [
      {
        file: 'src/modules/archive/archive-file.ts',
        find: 'if (parent !== root && !parent.startsWith(root + sep))',
        replace: 'if (false)',
      },
    ],
  ),
  ...killedBy(
    'test/host/states/file.test.ts',
    '$title: test mode and a second run change nothing',
    [
      {
        file: 'src/modules/file/states/file/managed.ts',
        find: 'if (__opts__.test) return testAnswer(ret, file);',
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/runtime/journal.test.ts',
    'a runtime killed inside a state that changed something leaves the reaction to the next run: %s',
    [
      {
        file: 'src/runtime/journal-file.ts',
        find: 'for (const state of begun) owe(all.get(state) ?? [], state);',
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/runtime/journal.test.ts',
    'a run that is stopped between a change and its %s makes up for it in the next run, once',
    [
      {
        file: 'src/runtime/journal-file.ts',
        find: "if (event[0] === '!') owe(second.split(',').map(Number), state);",
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/runtime/journal.test.ts',
    'the journal shows nothing of a state with no_log',
    [
      {
        file: 'src/runtime/journal.ts',
        find: 'if (hidden.size === 0) return tag => tag;',
        replace: 'return tag => tag;',
      },
    ],
  ),
  ...killedBy('test/host/runtime/serve.test.ts', 'refuses a second run and names the first', [
    {
      file: 'src/modules/_shared/commands/run-lock.ts',
      find: 'const holder = stillHolding(dir, seen?.holder);',
      replace: 'const holder = undefined as Holder | undefined;',
    },
  ]),
  ...killedBy('test/host/runtime/serve.test.ts', 'a lock whose process is gone is taken over', [
    {
      file: 'src/modules/_shared/commands/run-lock.ts',
      find: "return now === undefined || begun === '' || now === begun;",
      replace: 'return true;',
    },
  ]),
  ...killedBy(
    'test/host/runtime/serve.test.ts',
    'a lost link lets the running state finish, starts no other and informs the next run',
    [
      {
        file: 'src/runtime/serve/shutdown.ts',
        find: "session.stop(this.#isCancelled ? 'cancelled' : why);",
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/runtime/serve.test.ts',
    'a function that begins a command whenever one is ended leaves none behind',
    [
      {
        file: 'src/runtime/serve/shutdown.ts',
        find: '(await commands())?.forceAllChildren();',
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/integration/runs/state-runs.test.ts',
    'a state with no_log shows nothing of what it did, in any output and event',
    [
      {
        file: 'src/runtime/report.ts',
        find: 'truthy(low.no_log) ? withoutSecrets(result) : result',
        replace: 'result',
      },
    ],
    { isBuilt: true },
  ),
];
