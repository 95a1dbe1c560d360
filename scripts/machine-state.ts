// Checks what tests may leave behind on the machine: links, addresses, routes, mounts, users, groups,
// processes and files. `record FILE` writes it down. `compare FILE` prints what is new, and exits
// with 1 when something of it has our name.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { leftBehind, type MachineState } from './left-behind.ts';

const lines = (text: string): string[] => text.split('\n').filter(line => line !== '');
const run = (program: string, ...args: string[]): string[] =>
  lines(execFileSync(program, args, { encoding: 'utf8' }));

/** Folders whose entries are compared; those of /etc to any depth. */
const folders = [
  '/',
  '/home',
  '/opt',
  '/root',
  '/run',
  '/srv',
  '/tmp',
  '/usr/local/bin',
  '/var/tmp',
];

/** Names that programs of the machine itself make at any time. */
const passing = [
  /^\/tmp\/(?:bash_|node-compile-cache|tsx-)/,
  /^\/run\/(?:sshd|user|lock|log|postgresql|mysqld|redis|samba|dbus|docker|containerd|systemd|sudo|screen|rpc|nfs|fail2ban|apache2|monit|supervisor|incron|rabbitmq|firewalld|ebtables|xtables|resolvconf|cryptsetup|lvm|dmeventd|udev|utmp|crond|atd|cups|initctl|shm)/,
];

const processes = (): string[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(pid => {
      try {
        readlinkSync(`/proc/${pid}/exe`);
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        return [`${pid} ${command.slice(0, 200)}`];
      } catch {
        return [];
      }
    })
    .filter(line => !line.includes('machine-state'));

const entries = (folder: string): string[] => {
  try {
    return readdirSync(folder).map(name => `${folder === '/' ? '' : folder}/${name}`);
  } catch {
    return [];
  }
};

const stateNow = (): MachineState => ({
  links: run('ip', '-o', 'link').map(line => line.split(' ')[1]?.split('@')[0] ?? ''),
  addresses: run('ip', '-o', 'addr').map(line => line.split(/\s+/).slice(1, 4).join(' ')),
  routes: run('ip', 'route'),
  mounts: lines(readFileSync('/proc/self/mounts', 'utf8')).map(line => line.split(' ')[1] ?? ''),
  users: lines(readFileSync('/etc/passwd', 'utf8')),
  groups: lines(readFileSync('/etc/group', 'utf8')),
  processes: processes(),
  files: [
    ...run('find', '/etc', '-xdev', '(', '-type', 'f', '-o', '-type', 'l', ')'),
    ...folders.flatMap(entries),
  ].filter(path => !passing.some(pattern => pattern.test(path))),
});

/** Seconds in which our own programs may still clean up. */
const patience = 15;

const [verb, file = ''] = process.argv.slice(2);
if (verb === 'record') writeFileSync(file, JSON.stringify(stateNow()), { mode: 0o600 });
else if (verb === 'compare') {
  const before = JSON.parse(readFileSync(file, 'utf8')) as MachineState;
  let left = leftBehind(before, stateNow());
  // A runtime removes its workspace shortly after its connection has closed.
  for (let waited = 0; waited < patience && left.some(({ isOurs }) => isOurs); waited += 1) {
    await sleep(1000);
    left = leftBehind(before, stateNow());
  }
  for (const { line } of left) console.log(line);
  process.exit(left.some(({ isOurs }) => isOurs) ? 1 : 0);
} else {
  console.error('machine-state record FILE | machine-state compare FILE');
  process.exit(64);
}
