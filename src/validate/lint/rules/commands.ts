import type { LowChunk } from '../../../protocol/low.ts';
import { argumentText, isGiven, isOneOf, type LintRule } from '../rule.ts';

const commands = ['cmd.run', 'cmd.script', 'cmd.wait', 'cmd.wait_script'];

const conditions = [
  'onlyif',
  'unless',
  'creates',
  'onchanges',
  'onchanges_any',
  'onfail',
  'onfail_any',
  'onfail_all',
  'prereq',
  'stateful',
  'check_cmd',
];

const commandOf = (chunk: LowChunk): string =>
  isOneOf(chunk, commands) ? argumentText(chunk.name) : '';

/** Commands and the states that do the same. */
const instead: readonly (readonly [RegExp, string])[] = [
  [/^(apt|apt-get|yum|dnf|apk|zypper)\s+(-\S+\s+)*(install|add)\b/, 'pkg.installed'],
  [/^(apt|apt-get|yum|dnf|apk|zypper)\s+(-\S+\s+)*(remove|purge|erase|del)\b/, 'pkg.removed'],
  [
    /^(systemctl|rc-service|service)\s(.*\s)?(start|restart|reload)(\s|$)/,
    'service.running with watch',
  ],
  [/^systemctl\s.*\b(enable)\b/, 'service.running or service.enabled'],
  [/^(systemctl|rc-service|service)\s.*\bstop\b/, 'service.dead'],
  [/^(useradd|adduser|usermod)\b/, 'user.present'],
  [/^(groupadd|addgroup)\b/, 'group.present'],
  [/^mkdir\b/, 'file.directory'],
  [/^(chown|chmod|touch)\b/, 'file.managed or file.directory'],
  [/^ln\s+-\w*s/, 'file.symlink'],
  [/^rm\s/, 'file.absent'],
  [/^git\s+clone\b/, 'git.latest or git.cloned'],
  [/^(sysctl)\s+-w\b/, 'sysctl.present'],
  [/^(pip3?)\s+install\b/, 'pip.installed'],
];

/** Rules about commands. */
export const commandRules: readonly LintRule[] = [
  {
    id: 'cmd-without-condition',
    severity: 'warning',
    why: 'A command without a condition runs in every run, and the state always reports a change. Add `creates`, `unless`, `onlyif` or `onchanges`.',
    bad: 'build:\n  cmd.run:\n    - name: make install\n',
    good: 'build:\n  cmd.run:\n    - name: make install\n    - creates: /usr/local/bin/tool\n',
    find: chunk =>
      isOneOf(chunk, ['cmd.run', 'cmd.script']) && !conditions.some(name => isGiven(chunk[name]))
        ? [{ message: 'The command runs in every run: it has no condition' }]
        : [],
  },
  {
    id: 'cmd-wait',
    severity: 'warning',
    why: '`cmd.wait` and `cmd.wait_script` are deprecated in Salt. `cmd.run` with `onchanges` does the same.',
    bad: 'reload:\n  cmd.wait:\n    - name: update-ca-certificates\n    - watch:\n      - file: /etc/ca.conf\n/etc/ca.conf:\n  file.exists\n',
    good: 'reload:\n  cmd.run:\n    - name: update-ca-certificates\n    - onchanges:\n      - file: /etc/ca.conf\n/etc/ca.conf:\n  file.managed:\n    - contents: a\n',
    find: chunk =>
      isOneOf(chunk, ['cmd.wait', 'cmd.wait_script'])
        ? [
            {
              message: `'cmd.${chunk.fun}' is deprecated: use 'cmd.${chunk.fun === 'wait' ? 'run' : 'script'}' with 'onchanges'`,
            },
          ]
        : [],
  },
  {
    id: 'cmd-instead-of-state',
    severity: 'warning',
    why: 'A state compares first, changes only what differs, and has a test mode. A command has none of that.',
    bad: 'nginx:\n  cmd.run:\n    - name: apt-get install -y nginx\n    - creates: /usr/sbin/nginx\n',
    good: 'nginx:\n  pkg.installed\n',
    find: chunk => {
      const command = commandOf(chunk).replace(/^sudo\s+/, '');
      const found = /[;&|\n]/.test(command)
        ? undefined
        : instead.find(([pattern]) => pattern.test(command));
      return found ? [{ message: `A state does this: ${found[1]}`, argument: 'name' }] : [];
    },
  },
  {
    id: 'pipe-to-shell',
    severity: 'warning',
    why: 'An attacker who controls the server, or the network without TLS, can run commands on the host. Download the script with a hash and run it by `cmd.script`.',
    bad: 'install:\n  cmd.run:\n    - name: curl -s https://get.example.com | sh\n    - creates: /opt/tool\n',
    good: 'install:\n  cmd.script:\n    - source: salt://install.sh\n    - creates: /opt/tool\n',
    find: chunk =>
      /\b(curl|wget)\b[^|]*\|\s*(sudo\s+)?(ba|da|z)?sh\b/.test(commandOf(chunk))
        ? [{ message: 'A downloaded script is run without checking it', argument: 'name' }]
        : [],
  },
  {
    id: 'sudo-in-command',
    severity: 'note',
    why: 'States run as root already. `runas` chooses another user.',
    bad: 'a:\n  cmd.run:\n    - name: sudo -u app make\n    - creates: /srv/app/a\n',
    good: 'a:\n  cmd.run:\n    - name: make\n    - runas: app\n    - creates: /srv/app/a\n',
    find: chunk =>
      /^\s*sudo\s/.test(commandOf(chunk))
        ? [{ message: "'sudo' in a command: 'runas' chooses the user", argument: 'name' }]
        : [],
  },
  {
    id: 'old-module-run',
    severity: 'warning',
    why: 'The form with `- name: FUNCTION` mixes arguments of the state and of the function. In the newer form the function is the key.',
    bad: 'sync:\n  module.run:\n    - name: test.ping\n',
    good: 'sync:\n  module.run:\n    - test.ping: []\n',
    find: chunk =>
      isOneOf(chunk, ['module.run']) &&
      /^\w+\.\w+$/.test(argumentText(chunk.name)) &&
      !Object.keys(chunk).some(key => key.includes('.'))
        ? [{ message: `Write the function as a key: '- ${chunk.name}: [arguments]'` }]
        : [],
  },
];
