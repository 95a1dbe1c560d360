import { type Breakage, killedBy } from '../breakage.ts';

/** Guards between the control node and the host. */
export const transport: readonly Breakage[] = [
  ...killedBy(
    'test/host/transport/compression.test.ts',
    'a host that offers compression only is refused, unless an option allows it',
    [
      {
        file: 'src/transport/ssh2/handshake.ts',
        find: "compress: ['none'],",
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/transport/compression.test.ts',
    'a compressed packet that would become long ends the connection before it does',
    [
      {
        file: 'src/transport/ssh2/handshake.ts',
        find: 'limitInflation(client);',
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/transport/login.test.ts',
    'an unknown host key stops before the login, and shows the fingerprint',
    [
      {
        file: 'src/transport/host-key.ts',
        find: "if (rules.mode === 'strict') throw",
        replace: 'if (false) throw',
      },
    ],
  ),
  ...killedBy(
    'test/host/transport/login.test.ts',
    'a changed host key is refused in mode %s, before the login',
    [
      {
        file: 'src/transport/known-hosts.ts',
        find: "if (other) return { verdict: 'changed', entry: other };",
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/transport/login.test.ts',
    'a run takes no second key for a name whose first one it has accepted',
    [
      {
        file: 'src/transport/host-key.ts',
        find: 'entries.push({ at: { file }, names: name, type: hostKeyType(key), key });',
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/transport/login.test.ts',
    'a pinned key beats known_hosts, as fingerprint and as line',
    [
      {
        file: 'src/transport/host-key.ts',
        find: 'if (!isPinned(rules.pin, key)) throw',
        replace: 'if (false) throw',
      },
    ],
  ),
  ...killedBy(
    'test/unit/transport/known-hosts.test.ts',
    'a new key is one line at the end of a private file, even after a line without an end',
    [
      {
        file: 'src/transport/known-hosts.ts',
        find: 'endsInLine(file) ? line : `\\n${line}`',
        replace: 'line',
      },
      {
        file: 'src/transport/known-hosts.ts',
        find: '`\\n${line}`, { mode: 0o600 }',
        replace: '`\\n${line}`, { mode: 0o644 }',
      },
    ],
  ),
  ...killedBy(
    'test/host/transport/ssh-config.test.ts',
    'keys of new hosts go to the first file of the user’s, never to one of the system’s',
    [
      {
        file: 'src/transport/ssh-config.ts',
        find: "const [newKeysFile] = listed('userknownhostsfile');",
        replace:
          "const newKeysFile = files('userknownhostsfile').concat(files('globalknownhostsfile'))[0];",
      },
    ],
  ),
  ...killedBy(
    'test/host/transport/login.test.ts',
    'a jump host with a wrong key is refused at that hop; nothing is offered to it',
    [
      {
        file: 'src/transport/ssh2/ssh2.ts',
        find: 'verify: key => verifyKeyOf(plan, key, this.#options),',
        replace:
          'verify: key => plan.host.id === plan.host.host || verifyKeyOf(plan, key, this.#options),',
      },
    ],
  ),
  ...killedBy(
    'test/host/transport/login.test.ts',
    'the host behind a jump host is verified as itself',
    [
      {
        file: 'src/transport/ssh2/ssh2.ts',
        find: 'verify: key => verifyKeyOf(plan, key, this.#options),',
        replace: 'verify: key => plan.host.proxy_jump || verifyKeyOf(plan, key, this.#options),',
      },
    ],
  ),
  ...killedBy(
    'test/unit/transport/key-deploy.test.ts',
    'a host whose key is not the known one gets neither password nor key',
    [
      {
        file: 'src/transport/key-deploy.ts',
        find: "if (!(error instanceof TsaltError) || error.code !== 'auth-refused') throw error;",
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/transport/ssh-options.test.ts',
    'HostKeyAlias is the name that is looked up; CheckHostIP never adds another',
    [
      {
        file: 'src/transport/known-hosts.ts',
        find: 'if (alias !== undefined) return alias.toLowerCase();',
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/transport/login.test.ts',
    'the host %j is refused before any connection, by each transport',
    [
      { file: 'src/transport/ssh2/plan.ts', find: "checkWord(wanted.host, 'host');", replace: '' },
      {
        file: 'src/transport/openssh.ts',
        find: 'if (/^-|[\\0-\\x1f\\x7f]/.test(value) ||',
        replace: 'if (',
      },
    ],
  ),
  ...killedBy(
    'test/host/transport/login.test.ts',
    'an ssh option outside of the allow-list is refused and named',
    [
      {
        file: 'src/transport/openssh.ts',
        find: 'if (match && allowedOptions.has(name.toLowerCase())) return',
        replace: 'if (match) return',
      },
    ],
  ),
  ...killedBy(
    'test/host/transport/ssh-options.test.ts',
    'ssh2 refuses %s and names the transport that can do it',
    [
      {
        file: 'src/transport/ssh2/options.ts',
        find: 'throw cannot(id, text);',
        replace: 'continue;',
      },
    ],
  ),
  ...killedBy(
    'test/unit/transport/pre-flight.test.ts',
    'a script that is altered on the way is not run',
    [
      {
        file: 'src/loader/pre-flight.sh',
        find: 'h=${h%% *}',
        replace: 'h=$3',
      },
    ],
  ),
  ...killedBy(
    'test/unit/transport/pre-flight.test.ts',
    'a script that fails stops the run, shows what it said, and runs again next time',
    [
      {
        file: 'src/transport/pre-flight.ts',
        find: "if (last === 'DONE 0') return",
        replace: "if (last.startsWith('DONE')) return",
      },
      { file: 'src/loader/pre-flight.sh', find: '[ "$r" = 0 ] && echo', replace: 'echo' },
    ],
  ),
  ...killedBy(
    'test/unit/transport/pre-flight.test.ts',
    'a pre-flight script runs before the runtime: private, under a random name, once, removed',
    [
      {
        file: 'src/loader/pre-flight.sh',
        find: 'gone() { rm -rf "$t"; }',
        replace: 'gone() { :; }',
      },
    ],
  ),
  ...killedBy(
    'test/host/transport/bring-node.test.ts',
    'a download from the mirror is not run if its hash differs',
    [
      {
        file: 'src/loader/pull-node.sh',
        find: 'if [ "${h%% *}" = "$3" ]; then',
        replace: 'if true; then',
      },
    ],
  ),
  ...killedBy(
    'test/host/transport/node-source.test.ts',
    'a cache that others can write is refused',
    [
      {
        file: 'src/transport/node-cache.ts',
        find: 'uid !== process.geteuid?.() || mode & 0o022',
        replace: 'false',
      },
    ],
  ),
  ...killedBy(
    'test/host/transport/node-source.test.ts',
    'a package with another hash is not unpacked',
    [
      {
        file: 'src/transport/fetch-node.ts',
        find: "if (`sha512-${hash.digest('base64')}` !== integrity)",
        replace: 'if (false)',
      },
    ],
  ),
  ...killedBy(
    'test/host/transport/shells.test.ts',
    'a login shell that never stops printing is ended, in bounded memory',
    [
      {
        file: 'src/transport/handshake-messages.ts',
        find: 'if (this.#noiseSize > mostNoise) throw',
        replace: 'if (false) throw',
      },
    ],
  ),
  ...killedBy('test/host/transport/shells.test.ts', 'noise before the marker does not matter: %s', [
    {
      file: 'src/transport/unreachable.ts',
      find: ".replace(unsafe, '\\ufffd')",
      replace: ".replace(unsafe, '$&')",
    },
  ]),
  ...killedBy('test/unit/transport/become.test.ts', 'su and doas ask in any language: %s', [
    {
      file: 'src/transport/become.ts',
      find: 'const ownPrompt = /(?::|\\xef\\xbc\\x9a)[ \\xa0]?$/;',
      replace: 'const ownPrompt = /Password: $/;',
    },
  ]),
  ...killedBy(
    'test/unit/transport/fuzz.test.ts',
    'known_hosts: any text gives a verdict (%s inputs)',
    [
      {
        file: 'src/transport/known-hosts.ts',
        find: 'if (hostKeyType(key) !== type) return;',
        replace: 'if (hostKeyType(key) !== type) throw new Error(line);',
      },
    ],
  ),
];
