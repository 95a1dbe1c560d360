import type { LowChunk } from '../../../protocol/low.ts';
import {
  argumentText,
  isGiven,
  isOneOf,
  type LintHit,
  type LintRule,
  namedRequisites,
} from '../rule.ts';

const modes = ['mode', 'dir_mode', 'file_mode'];

const octal = (value: unknown): string | undefined => {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '';
  return /^0?[0-7]{3,4}$/.test(text) ? text : undefined;
};

const remote = /^(https?|ftp|s3|swift):\/\//;

const sourcesOf = ({ source }: LowChunk): string[] =>
  [source].flat().flatMap(one => (typeof one === 'string' ? [one] : []));

const takesSource = [
  'file.managed',
  'file.recurse',
  'archive.extracted',
  'cmd.script',
  'file.cached',
];

/** Arguments that set the content of a file. */
const contents = [
  'source',
  'contents',
  'contents_pillar',
  'contents_grains',
  'contents_delimiter',
  'replace',
];

const risky = /^\/etc\/(sudoers(\.d\/.*)?|ssh\/sshd_config(\.d\/.*)?)$/;

/** Rules about files. */
export const fileRules: readonly LintRule[] = [
  {
    id: 'unquoted-mode',
    severity: 'warning',
    why: 'YAML reads a mode without quotes as a number. Salt and other readers take `0644` differently, and `1777` or `08` by chance. `--fix` adds the quotes.',
    bad: '/etc/a:\n  file.managed:\n    - contents: a\n    - mode: 0644\n',
    good: "/etc/a:\n  file.managed:\n    - contents: a\n    - mode: '0644'\n",
    find: (chunk, run) =>
      modes
        .filter(name => typeof chunk[name] === 'number' && run.isLiteral(chunk, name))
        .map(name => ({
          message: `The mode ${chunk[name]} needs quotes`,
          argument: name,
          fix: line => {
            const fixed = line.replace(/(mode:\s*)(0?[0-7]{3,4})(\s*(#.*)?)$/, "$1'$2'$3");
            return fixed === line ? undefined : fixed;
          },
        })),
  },
  {
    id: 'world-writable',
    severity: 'warning',
    why: 'Every user of the host can change the file. A folder such as /tmp needs the sticky bit (`1777`).',
    bad: "/srv/a:\n  file.directory:\n    - mode: '0777'\n",
    good: "/srv/a:\n  file.directory:\n    - mode: '0755'\n",
    find: chunk =>
      modes.flatMap((name): LintHit[] => {
        const mode = octal(chunk[name]);
        if (mode === undefined || !/[2367]$/.test(mode) || /^[1357][0-7]{3}$/.test(mode)) return [];
        return [{ message: `The mode ${mode} lets every user write`, argument: name }];
      }),
  },
  {
    id: 'absolute-source',
    severity: 'warning',
    why: 'A plain path is a file on the host, which a run does not copy there. `salt://` is a file of the tree.',
    bad: '/etc/a:\n  file.managed:\n    - source: /srv/files/a\n',
    good: '/etc/a:\n  file.managed:\n    - source: salt://files/a\n',
    find: chunk =>
      isOneOf(chunk, takesSource) && sourcesOf(chunk).some(one => /^(\/|file:\/\/)/.test(one))
        ? [
            {
              message: 'The source is a file of the host, not of the tree (salt://)',
              argument: 'source',
            },
          ]
        : [],
  },
  {
    id: 'source-without-hash',
    severity: 'warning',
    why: 'Without `source_hash` a changed file on the server is not noticed, and every run downloads it.',
    bad: '/opt/a.tar.gz:\n  file.managed:\n    - source: https://example.com/a.tar.gz\n    - skip_verify: true # tsalt-lint: disable=verification-off\n',
    good: '/opt/a.tar.gz:\n  file.managed:\n    - source: https://example.com/a.tar.gz\n    - source_hash: https://example.com/a.tar.gz.sha256\n',
    find: chunk =>
      isOneOf(chunk, takesSource) &&
      sourcesOf(chunk).some(one => remote.test(one)) &&
      !isGiven(chunk.source_hash)
        ? [{ message: 'The source of another server has no source_hash', argument: 'source' }]
        : [],
  },
  {
    id: 'insecure-source',
    severity: 'warning',
    why: 'Somebody on the network can change what comes by HTTP or FTP, unless `source_hash` has the hash itself.',
    bad: '/opt/a:\n  file.managed:\n    - source: http://example.com/a\n    - source_hash: http://example.com/a.sha256\n',
    good: '/opt/a:\n  file.managed:\n    - source: https://example.com/a\n    - source_hash: https://example.com/a.sha256\n',
    find: chunk =>
      !isHash(argumentText(chunk.source_hash)) &&
      [...sourcesOf(chunk), argumentText(chunk.source_hash)].some(one =>
        /^(http|ftp):\/\//.test(one),
      )
        ? [{ message: 'The source is read without TLS', argument: 'source' }]
        : [],
  },
  {
    id: 'verification-off',
    severity: 'warning',
    why: 'Without these checks, the host accepts a file or a server of an attacker.',
    bad: '/opt/a:\n  file.managed:\n    - source: salt://a\n    - skip_verify: true\n',
    good: '/opt/a:\n  file.managed:\n    - source: salt://a\n',
    find: chunk =>
      [
        ['skip_verify', true],
        ['verify_ssl', false],
        ['allow_insecure', true],
        ['gpgcheck', 0],
      ].flatMap(([name, value]): LintHit[] =>
        chunk[String(name)] === value
          ? [{ message: `'${name}: ${value}' switches a check off`, argument: String(name) }]
          : [],
      ),
  },
  {
    id: 'context-without-template',
    severity: 'warning',
    why: '`context` and `defaults` are variables of a template. Without `template` the file is copied as it is.',
    bad: '/etc/a:\n  file.managed:\n    - source: salt://a\n    - context: {port: 80}\n',
    good: '/etc/a:\n  file.managed:\n    - source: salt://a\n    - template: jinja\n    - context: {port: 80}\n',
    find: chunk =>
      isOneOf(chunk, ['file.managed', 'file.recurse', 'file.blockreplace', 'cmd.script']) &&
      !isGiven(chunk.template)
        ? ['context', 'defaults']
            .filter(name => isGiven(chunk[name]))
            .map(name => ({
              message: `'${name}' has no effect without 'template'`,
              argument: name,
            }))
        : [],
  },
  {
    id: 'file-without-content',
    severity: 'note',
    why: 'The state makes an empty file, or leaves the content of a file as it is. `replace: false` says that this is meant.',
    bad: '/etc/a:\n  file.managed:\n    - user: root\n',
    good: '/etc/a:\n  file.managed:\n    - user: root\n    - replace: false\n',
    find: chunk =>
      isOneOf(chunk, ['file.managed']) && !contents.some(name => isGiven(chunk[name]))
        ? [{ message: "The file has neither 'source' nor 'contents'" }]
        : [],
  },
  {
    id: 'clean-removes-managed',
    severity: 'warning',
    why: '`clean: true` removes what no required state manages: another state of the run writes the file again, and both change something in every run.',
    bad: '/etc/app.d:\n  file.directory:\n    - clean: true\n/etc/app.d/a:\n  file.managed:\n    - contents: a\n',
    good: '/etc/app.d:\n  file.directory:\n    - clean: true\n    - require:\n      - file: /etc/app.d/a\n/etc/app.d/a:\n  file.managed:\n    - contents: a\n',
    find: (chunk, run) => {
      if (!isOneOf(chunk, ['file.directory', 'file.recurse']) || chunk.clean !== true) return [];
      const folder = `${argumentText(chunk.name).replace(/\/$/, '')}/`;
      const linked = new Set(run.required(chunk, ['require', 'watch', 'onchanges']));
      const kept = (other: LowChunk): boolean =>
        linked.has(other) ||
        run.required(other, ['require', 'watch', 'require_in']).includes(chunk);
      const lost = run.chunks.find(
        other =>
          other.state === 'file' &&
          ['managed', 'symlink', 'directory', 'recurse'].includes(other.fun) &&
          argumentText(other.name).startsWith(folder) &&
          !kept(other),
      );
      return lost
        ? [
            {
              message: `'clean' removes ${lost.name}, which ID '${lost.__id__}' manages`,
              argument: 'clean',
            },
          ]
        : [];
    },
  },
  {
    id: 'key-without-mode',
    severity: 'warning',
    why: 'A new file gets the mode of the umask, mostly 0644: every user can read a private key.',
    bad: '/etc/ssl/private/a.key:\n  file.managed:\n    - source: salt://a.key\n',
    good: "/etc/ssl/private/a.key:\n  file.managed:\n    - source: salt://a.key\n    - mode: '0600'\n",
    find: chunk =>
      isOneOf(chunk, ['file.managed']) &&
      /(\.key|\/id_(rsa|ed25519|ecdsa)|\/private\/.+\.pem)$/.test(argumentText(chunk.name)) &&
      !isGiven(chunk.mode)
        ? [{ message: "A private key needs a 'mode'" }]
        : [],
  },
  {
    id: 'unchecked-config',
    severity: 'warning',
    why: 'A mistake in these files locks all users out. `check_cmd` refuses a file before it is in place.',
    bad: '/etc/sudoers.d/deploy:\n  file.managed:\n    - source: salt://deploy\n',
    good: '/etc/sudoers.d/deploy:\n  file.managed:\n    - source: salt://deploy\n    - check_cmd: visudo -cf\n',
    find: chunk =>
      isOneOf(chunk, ['file.managed']) &&
      risky.test(argumentText(chunk.name)) &&
      !isGiven(chunk.check_cmd)
        ? [
            {
              message: `'check_cmd' should check this file (${/sudoers/.test(argumentText(chunk.name)) ? 'visudo -cf' : 'sshd -tf'})`,
            },
          ]
        : [],
  },
  {
    id: 'duplicate-name',
    severity: 'warning',
    why: 'Two states for one thing undo each other in every run, or one of them is not needed.',
    bad: 'a:\n  file.managed:\n    - name: /etc/a\n    - contents: a\nb:\n  file.managed:\n    - name: /etc/a\n    - contents: b\n',
    good: 'a:\n  file.managed:\n    - name: /etc/a\n    - contents: a\n',
    find: (chunk, run) => {
      if (!isOneOf(chunk, single)) return [];
      const others = run
        .named(chunk.state, argumentText(chunk.name))
        .filter(other => other.fun === chunk.fun && other.name === chunk.name);
      const [first] = others;
      return first && first !== chunk && !isAlternative(chunk)
        ? [
            {
              message: `ID '${first.__id__}' of SLS '${first.__sls__}' has the same ${chunk.state}.${chunk.fun} of '${chunk.name}'`,
            },
          ]
        : [];
    },
  },
];

/** A hash that is written out; the host refuses any other file. */
const isHash = (text: string): boolean => /^(\w+=)?[\da-f]{32,128}$/i.test(text);

/** Functions of which one state for one name is enough. */
const single = [
  'file.managed',
  'file.absent',
  'file.symlink',
  'service.running',
  'service.dead',
  'user.present',
  'group.present',
  'cron.present',
  'sysctl.present',
];

/** A state with a condition may not run for some hosts. */
const isAlternative = (chunk: LowChunk): boolean =>
  ['onlyif', 'unless', 'onfail', 'onchanges', 'creates', 'prereq'].some(name =>
    isGiven(chunk[name]),
  ) || namedRequisites(chunk, 'onfail').length > 0;
