import { argumentText, isGiven, isOneOf, type LintRule } from '../rule.ts';

/** Rules about packages, services and other resources. */
export const packageRules: readonly LintRule[] = [
  {
    id: 'pkg-latest',
    severity: 'warning',
    why: '`pkg.latest` upgrades when the repository changes, not when you do: two hosts get two versions. `pkg.installed` with `version`, or an own update run, is predictable.',
    bad: 'nginx:\n  pkg.latest\n',
    good: 'nginx:\n  pkg.installed\n',
    find: chunk =>
      isOneOf(chunk, ['pkg.latest']) ||
      (isOneOf(chunk, ['pkg.installed']) && chunk.version === 'latest')
        ? [{ message: 'The version depends on the day of the run' }]
        : [],
  },
  {
    id: 'version-ignored',
    severity: 'error',
    why: 'With `pkgs` or `sources`, `version` is ignored. Versions belong to the names: `- pkgs: [{nginx: 1.26}]`.',
    bad: 'web:\n  pkg.installed:\n    - pkgs: [nginx, curl]\n    - version: 1.2.3\n',
    good: 'web:\n  pkg.installed:\n    - pkgs:\n      - nginx: 1.2.3\n      - curl\n',
    find: chunk =>
      isOneOf(chunk, ['pkg.installed', 'pkg.removed', 'pkg.purged']) &&
      isGiven(chunk.version) &&
      (isGiven(chunk.pkgs) || isGiven(chunk.sources))
        ? [{ message: "'version' is ignored beside 'pkgs' and 'sources'", argument: 'version' }]
        : [],
  },
  {
    id: 'service-not-enabled',
    severity: 'note',
    why: 'Without `enable: true` the service may be gone after a restart of the host.',
    bad: 'nginx:\n  service.running\n',
    good: 'nginx:\n  service.running:\n    - enable: true\n',
    find: chunk =>
      isOneOf(chunk, ['service.running']) && !isGiven(chunk.enable)
        ? [{ message: "'enable' does not say whether the service starts with the host" }]
        : [],
  },
  {
    id: 'git-without-rev',
    severity: 'note',
    why: 'Without `rev` each run takes what the default branch has at that time.',
    bad: 'https://example.com/a.git:\n  git.latest:\n    - target: /srv/a\n',
    good: 'https://example.com/a.git:\n  git.latest:\n    - target: /srv/a\n    - rev: v1.2\n',
    find: chunk =>
      isOneOf(chunk, ['git.latest']) && !isGiven(chunk.rev)
        ? [{ message: "'rev' does not name a branch, tag or commit" }]
        : [],
  },
  {
    id: 'cron-without-identifier',
    severity: 'warning',
    why: 'Without `identifier` the command is the identity: a changed command becomes a second entry, and the old one stays.',
    bad: 'backup --all:\n  cron.present:\n    - hour: 2\n',
    good: 'backup --all:\n  cron.present:\n    - identifier: backup\n    - hour: 2\n',
    find: chunk =>
      isOneOf(chunk, ['cron.present']) && !isGiven(chunk.identifier)
        ? [{ message: "The entry needs an 'identifier'" }]
        : [],
  },
  {
    id: 'unpinned-repository',
    severity: 'warning',
    why: 'Without a key, or by HTTP without one, packages of an attacker are installed as root.',
    bad: 'repo:\n  pkgrepo.managed:\n    - name: deb http://example.com/debian bookworm main\n    - file: /etc/apt/sources.list.d/a.list\n',
    good: 'repo:\n  pkgrepo.managed:\n    - name: deb [signed-by=/etc/apt/keyrings/a.gpg] https://example.com/debian bookworm main\n    - file: /etc/apt/sources.list.d/a.list\n',
    find: chunk =>
      isOneOf(chunk, ['pkgrepo.managed']) &&
      !['key_url', 'keyid', 'key_text', 'gpgkey', 'signedby', 'ppa'].some(name =>
        isGiven(chunk[name]),
      ) &&
      !/signed-by=/.test(argumentText(chunk.name))
        ? [{ message: "The repository has no key ('key_url', 'gpgkey' or 'signed-by')" }]
        : [],
  },
];
