import type { Breakage } from './breakage.ts';

/** Guards whose tests docs/security.md names. Each line of the list removes one of them. */
export const security: readonly Breakage[] = [
  {
    file: 'src/transport/host-key.ts',
    find: "if (rules.mode === 'strict') throw",
    replace: 'if (false) throw',
    test: {
      file: 'test/transport/login.test.ts',
      title: 'an unknown host key stops before the login, and shows the fingerprint',
    },
  },
  {
    file: 'src/transport/known-hosts.ts',
    find: "if (other) return { verdict: 'changed', entry: other };",
    replace: '',
    test: {
      file: 'test/transport/login.test.ts',
      title: 'a changed host key is refused in mode %s, before the login',
    },
  },
  {
    file: 'src/transport/host-key.ts',
    find: 'entries.push({ at: { file }, names: name, type: keyType(key), key });',
    replace: '',
    test: {
      file: 'test/transport/login.test.ts',
      title: 'a run takes no second key for a name whose first one it has accepted',
    },
  },
  {
    file: 'src/transport/host-key.ts',
    find: 'if (!isPinned(rules.pin, key)) throw',
    replace: 'if (false) throw',
    test: {
      file: 'test/transport/login.test.ts',
      title: 'a pinned key beats known_hosts, as fingerprint and as line',
    },
  },
  {
    file: 'src/transport/known-hosts.ts',
    find: 'endsInLine(file) ? line : `\\n${line}`',
    replace: 'line',
    test: {
      file: 'test/transport/known-hosts.test.ts',
      title: 'a new key is one line at the end of a private file, even after a line without an end',
    },
  },
  {
    file: 'src/transport/node-cache.ts',
    find: 'uid !== process.geteuid?.() || mode & 0o022',
    replace: 'false',
    test: {
      file: 'test/transport/node-source.test.ts',
      title: 'a cache that others can write is refused',
    },
  },
  {
    file: 'src/transport/fetch-node.ts',
    find: "if (`sha512-${hash.digest('base64')}` !== integrity)",
    replace: 'if (false)',
    test: {
      file: 'test/transport/node-source.test.ts',
      title: 'a package with another hash is not unpacked',
    },
  },
  {
    file: 'src/roster/outside.ts',
    find: '...local.filter(name => dict.has(name)),',
    replace: '',
    test: {
      file: 'test/roster/backends.test.ts',
      title: 'a terraform state cannot reach this machine by %s',
    },
  },
  {
    file: 'src/sdb/drivers/cmd.ts',
    find: "if (key.startsWith('-') && at >= 0 && (end < 0 || end > at))",
    replace: 'if (false)',
    test: {
      file: 'test/sdb/sdb.test.ts',
      title: 'a key that begins with a dash never becomes an option of the program',
    },
  },
  {
    file: 'src/fileserver/file-roots.ts',
    find: 'if (!inside(root, real)) return undefined;',
    replace: '',
    test: {
      file: 'test/fileserver/file-roots.test.ts',
      title: 'nothing outside of the roots is ever found',
    },
  },
  {
    file: 'src/bundle/zip.ts',
    find: 'checkName(name);',
    replace: '',
    test: {
      file: 'test/bundle/zip.test.ts',
      title: 'an archive cannot write outside of its folder',
    },
  },
  {
    file: 'src/control/pushed-files.ts',
    find: "part !== '..' &&",
    replace: '',
    test: {
      file: 'test/control/pushed-files.test.ts',
      title: '%s is refused before anything is written',
    },
  },
  {
    file: 'src/control/pushed-files.ts',
    find: 'return size > most ?',
    replace: 'return false ?',
    test: {
      file: 'test/control/pushed-files.test.ts',
      title:
        'nothing is taken unless file_recv says so, and nothing larger than file_recv_max_size',
    },
  },
  {
    file: 'src/yaml/taint-check.ts',
    find: 'if (!this.#isSame(end, wanted.end)) return',
    replace: 'if (false) return',
    test: {
      file: 'test/yaml/taint-shape.test.ts',
      title: 'any string: the data has the shape of a harmless one, or is refused',
    },
  },
  {
    file: 'src/yaml/taint-check.ts',
    find: 'if (at < actual.list.length || harmless.isBroken !== actual.isBroken)',
    replace: 'if (false)',
    test: {
      file: 'test/yaml/taint-shape.test.ts',
      title: 'any string: the data has the shape of a harmless one, or is refused',
    },
  },
  {
    file: 'src/yaml/taint-check.ts',
    find: 'return isTouched(this.#ranges, start, end) ? this.#differs(start) : undefined;',
    replace: 'return undefined;',
    test: {
      file: 'test/yaml/taint-shape.test.ts',
      title: 'any string: the data has the shape of a harmless one, or is refused',
    },
  },
  {
    file: 'src/yaml/taint-check.ts',
    find: "if (kind === 'quoted') this.#checkEscapes(start, end);",
    replace: '',
    test: {
      file: 'test/yaml/taint-shape.test.ts',
      title: 'any string: the data has the shape of a harmless one, or is refused',
    },
  },
  {
    file: 'src/render/pipe.ts',
    find: "if (evaluates === undefined || origin === 'user-file') return;",
    replace: 'return;',
    test: {
      file: 'test/render/origin.test.ts',
      title: '%s renders no text that is not a file of the user',
    },
  },
  {
    file: 'src/render/pipe.ts',
    find: "if (renderer.evaluates === 'program' && stages.length > 0)",
    replace: 'if (false)',
    test: {
      file: 'test/render/origin.test.ts',
      title: 'what another engine has made of a file is not run as a program',
    },
  },
  {
    file: 'src/render/script/sandbox.ts',
    find: 'runtime.setMemoryLimit(megabytes * 1024 * 1024);',
    replace: '',
    test: {
      file: 'test/render/sandbox.test.ts',
      title: 'a template is ended for %s, and the next one is rendered',
    },
  },
  {
    file: 'src/render/script/worker.ts',
    find: 'if (this.#run.open.size >= mostCalls)',
    replace: 'if (false)',
    test: {
      file: 'test/render/sandbox.test.ts',
      title: 'a template cannot flood its host with calls that it does not wait for',
    },
  },
  {
    file: 'src/modules/lib/safe-fs/links.ts',
    find: 'if (first === undefined) return;',
    replace: 'return;',
    test: {
      file: 'test/states/foreign-paths.test.ts',
      title: '%s of %s leaves what a link of the user leads to',
    },
  },
  {
    file: 'src/control/host-functions.ts',
    find: "if (!texts?.has(text)) throw refused(fun, 'is not called so by a state of this run');",
    replace: '',
    test: {
      file: 'test/control/hosts-may.test.ts',
      title: 'a function that a state calls takes the texts of that state, and those only',
    },
  },
  {
    file: 'src/control/wrapper-context.ts',
    find: 'opts: optsForHost(parts.facts),',
    replace: '',
    test: {
      file: 'test/integration/hostile-calls.test.ts',
      title: 'options give a host no path of the control node',
    },
  },
  {
    file: 'src/control/wrapper-context.ts',
    find: 'paths.filter(path => refs.allows(path, saltenv));',
    replace: '[...paths];',
    test: {
      file: 'test/integration/hostile-calls.test.ts',
      title: 'a host lists what lies below the folders that its job names',
    },
  },
  {
    file: 'src/control/file-requests.ts',
    find: 'if (!computes() || !sandboxed.includes(request.template))',
    replace: 'if (false)',
    test: {
      file: 'test/control/file-refs.test.ts',
      title: 'what a module of the user computed is rendered confined, and only where there is one',
    },
  },
  {
    file: 'src/control/file-requests.ts',
    find: 'this.#named.get(path)?.has(env) === true',
    replace: 'this.#named.has(path)',
    test: {
      file: 'test/integration/hostile-files.test.ts',
      title: 'a host fetches each file from the saltenv that its job names it in',
    },
  },
  {
    file: 'src/protocol/render-identity.ts',
    find: 'JSON.stringify([state, sourceKey(source, saltenv), template, sorted(ownVariables(context))]);',
    replace: 'JSON.stringify([sourceKey(source, saltenv), template]);',
    test: {
      file: 'test/control/file-refs.test.ts',
      title: 'a template has the variables of its own state, whatever other states have',
    },
  },
];
