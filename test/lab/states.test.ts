import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLab, labMissing } from '../helpers/lab.ts';
import { type LabProject, startLabProject } from '../helpers/lab-project.ts';

type StateResult = {
  name: string;
  result: boolean | null;
  changes: Record<string, unknown>;
  comment: string;
};

const missing = labMissing();
const lab = createLab(9);
const host = 'every';
const fixtures = new URL('../fixtures/states', import.meta.url);
const sha256 = (data: string | Uint8Array): string =>
  createHash('sha256').update(data).digest('hex');

/** States that only look: they have nothing to change. */
const lookers = ['/srv/t/old/source exists', '/srv/t/old/nowhere missing', 'greeting exists'];
/** Prepared as it should be, or only there for another state. */
const asWanted = ['/srv/t/clean/wanted managed', 'more for the block accumulated'];
/** Theirs is to act in every run. */
const everyRun = ['TSALT_LAB setenv', '/srv/t/new/touched touch'];

/** Everything that a state could move, in one comparable text. */
const look = `cd /
  find etc srv home root/.ssh root/.gitconfig usr/local opt tmp/tsalt-games var/lib/dpkg lib/systemd \
    var/spool/cron/crontabs -xdev -not -path '*/.cache/*' -printf '%p %m %U %G %s %T@ %l\\n' 2>/dev/null | sort
  find etc srv home root/.ssh usr/local var/spool/cron -xdev -type f -exec sha256sum {} + | sort
  systemctl list-units --type=service --all --no-legend --plain | grep -v user | sort
  cat etc/passwd etc/group proc/mounts proc/sys/net/ipv4/ip_forward proc/sys/kernel/hostname
  atq | sort; locale -a; lsmod 2>/dev/null | wc -l`;

const steady = (seen: string): string => seen.replace(/^srv\/t\/new\/touched .*$/gm, '');

/** The output of the system's own tools afterwards. */
const facts: readonly (readonly [what: string, command: string, says: string])[] = [
  ['contents', 'cat /srv/t/new/contents', 'some text\nevery'],
  ['owner and mode', 'stat -c "%a %U %G" /srv/t/new/contents', '640 games games'],
  ['mode of made folders', 'stat -c %a /srv/t/new', '750'],
  ['a source', 'cat /srv/t/new/salt', 'plain source'],
  ['a context', 'cat /srv/t/new/liquid-context', 'host every port 8080 from-context'],
  ['defaults', 'cat /srv/t/new/liquid', 'host every port 8080 from-defaults'],
  ['a local source', 'cat /srv/t/new/local', 'copied'],
  ['a list of sources', 'cat /srv/t/new/list', 'plain source'],
  ['a source from the web', 'cat /srv/t/new/web', 'plain source'],
  ['pillar contents', 'cat /srv/t/new/pillar', 'from pillar'],
  ['a pillar template', 'cat /srv/t/new/pillar-template', 'every says hello'],
  ['a local template', 'cat /srv/t/new/local-template', 'port 8080 locally'],
  ['a template from the web', 'cat /srv/t/new/web-template', 'port 8080 by web'],
  ['a template from grains', 'cat /srv/t/new/grains-template', 'hello friend'],
  ['grains contents', 'cat /srv/t/new/grains', 'Debian'],
  [
    'attributes kept',
    'getfattr --absolute-names --only-values -n user.origin /srv/t/edit/attributed',
    'lab',
  ],
  ['access list kept', 'getfacl -cp /srv/t/edit/attributed | grep games', 'user:games:rw-'],
  [
    'JSON',
    'cat /srv/t/new/data.json',
    '{\n  "a": {\n    "deep": true\n  },\n  "b": [\n    1,\n    2\n  ]\n}',
  ],
  ['YAML', 'cat /srv/t/new/data.yaml', 'a: x\nb:\n- 1\n- 2'],
  ['merged JSON', 'cat /srv/t/edit/merged.json', '{\n  "added": 2,\n  "kept": 1\n}'],
  ['decoded', 'cat /srv/t/new/decoded', 'decoded'],
  ['touched', 'stat -c %s /srv/t/new/touched', '0'],
  [
    'symlink',
    'stat -c "%N %U" /srv/t/new/symlink',
    "'/srv/t/new/symlink' -> '/srv/t/old/source' games",
  ],
  ['hardlink', 'stat -c %h /srv/t/new/hardlink', '2'],
  ['copied', 'stat -c %a /srv/t/new/copied', '640'],
  [
    'renamed',
    'cat /srv/t/new/renamed; ls /srv/t/old',
    'moved\nbacked-up\nsource\ntemplate\ntemplate-calls\ntemplate-reads',
  ],
  ['absent', 'ls -A /srv/t/gone', ''],
  ['append', 'cat /srv/t/edit/append', 'alpha\nbeta\ngamma\ndelta'],
  ['prepend', 'cat /srv/t/edit/prepend', 'omega\npsi\nalpha\nbeta\ngamma'],
  ['replace', 'cat /srv/t/edit/replace', 'alpha\nBtA\ngamma'],
  ['line insert', 'cat /srv/t/edit/line', 'alpha\ninserted\nbeta\ngamma'],
  ['line delete', 'cat /srv/t/edit/line_delete', 'alpha\ngamma'],
  ['line ensure', 'cat /srv/t/edit/line_ensure', 'alpha\nbeta\nensured\ngamma'],
  ['line replace', 'cat /srv/t/edit/line_replace', 'alpha\nreplaced\ngamma'],
  ['comment', 'cat /srv/t/edit/comment', '#one\ntwo'],
  ['uncomment', 'cat /srv/t/edit/uncomment', 'one\ntwo'],
  ['block', 'cat /srv/t/edit/block', 'before\n# S\nnew\naccumulated\n# E\nafter'],
  ['keyvalue', 'cat /srv/t/edit/keyvalue', 'Port 2222\nPermitRootLogin no\nUseDNS no'],
  ['patched', 'cat /srv/t/edit/patched', 'first\nchanged'],
  [
    'ini options',
    "grep -v '^$' /srv/t/ini/options",
    '[main]\nkeep = 1\nadded = yes please\n[old]\nx = 1\n[new]\nkey = value',
  ],
  ['ini sections', 'grep "^\\[" /srv/t/ini/sections', '[b]\n[c]'],
  ['directory', 'stat -c "%a %U" /srv/t/dirs/new', '750 games'],
  [
    'directory recurse',
    'stat -c "%a %U" /srv/t/dirs/loose /srv/t/dirs/loose/sub /srv/t/dirs/loose/file',
    '755 games\n755 games\n644 games',
  ],
  [
    'directory clean keeps what required states manage',
    'cd /srv/t/both && find . -type f | sort',
    './tree/link\n./tree/one.txt\n./whole/theirs',
  ],
  ['directory clean', 'ls /srv/t/clean', 'keep\nwanted'],
  [
    'recurse',
    'cd /srv/t/tree/made && find . | sort',
    '.\n./empty\n./link\n./one.txt\n./sub\n./sub/deep\n./sub/deep/three.txt\n./sub/two.txt',
  ],
  ['recurse keeps links', 'readlink /srv/t/tree/made/link', 'one.txt'],
  ['recurse renders', 'cat /srv/t/tree/made/sub/two.txt', 'two rendered'],
  [
    'recurse pattern',
    'cd /srv/t/tree/cleaned && find . -type f | sort',
    './sub/deep/three.txt\n./sub/skip.bak\n./sub/two.txt',
  ],
  ['tidied', 'ls /srv/t/tidy', 'new.txt\nsub'],
  ['pruned', 'ls /srv/t | grep pruned || true', ''],
  ['retention', 'ls /srv/t/retain', 'backup-2026-01-03\nbackup-2026-01-04'],
  ...['tar', 'tar.gz', 'tar.xz'].map(
    kind =>
      [
        kind,
        `cd /srv/t/unpacked/${kind} && stat -c '%n %a %U' archive/inside archive/sub && cat archive/sub/more`,
        'archive/inside 644 games\narchive/sub 750 games\nmore',
      ] as const,
  ),
  ['zip', 'cat /srv/t/unpacked/zip/zipped/file', 'zipped'],
  ['stripped', 'cat /srv/t/unpacked/stripped/inside', 'inside'],
  [
    'commands',
    'cd /srv/t/cmd && cat run script environ /tmp/tsalt-games && ls',
    'ran\nscript given\nseen\ngames\nenviron\nmodule\nrun\nscript\nstateful\nwatched',
  ],
  [
    'git latest',
    'git -C /srv/t/repos/latest log --format=%s -1; git -C /srv/t/repos/latest branch --show-current',
    'second\nmain',
  ],
  ['git cloned', 'cat /srv/t/repos/cloned/file', '2'],
  [
    'git detached',
    'git -C /srv/t/repos/detached describe --tags; git -C /srv/t/repos/detached symbolic-ref -q HEAD || true',
    'v1',
  ],
  ['git config', 'git config --global --get-regexp ^lab', 'lab.word two words'],
  [
    'grains',
    'sort /etc/salt/grains',
    '- a\n- a\n- b\n- db\n- web\ndatacenter: lab1\ngreeting: "hello {{ word }}"\ngrowing:\nroles:\nshrinking:',
  ],
  ['group', 'getent group builders leaving', 'builders:x:4711:games'],
  [
    'user',
    'getent passwd bob; id bob; stat -c %U /srv/bob; getent passwd leaver || true; ls /home',
    'bob:x:4712:4711:Bob B:/srv/bob:/bin/bash\nuid=4712(bob) gid=4711(builders) groups=4711(builders)\nbob\ndeploy\nops',
  ],
  [
    'authorized keys',
    'grep -o "[^ ]*@lab$" /root/.ssh/authorized_keys; grep -c no-pty /root/.ssh/authorized_keys',
    'new@lab\n1',
  ],
  ['managed keys', 'cut -d" " -f1,3 /home/deploy/.ssh/authorized_keys', 'ssh-ed25519 only@lab'],
  [
    'known hosts',
    'for h in new.lab "[hashed.lab]:2222" old.lab; do ssh-keygen -F "$h" 2>/dev/null | grep -vc "^#"; done',
    '1\n1\n0',
  ],
  [
    'cron',
    'crontab -l',
    '0 6 * * * /bin/theirs\n# Lines below here are managed by Salt, do not edit\nMAILTO=ops@example.invalid\n# every night SALT_CRON_IDENTIFIER:nightly\n17 3 * * * /bin/true nightly\n# SALT_CRON_IDENTIFIER:/bin/true reboot\n@reboot /bin/true reboot',
  ],
  ['cron file', 'crontab -u games -l', '# from a file\n5 4 * * * /bin/true weekly'],
  [
    'at',
    'for j in $(atq | cut -f1); do at -c $j | grep -o "SALT: .*\\|^echo .*"; done | sort',
    'SALT: later\necho later\necho queued',
  ],
  [
    'hosts',
    'grep -v "^127" /etc/hosts | tr -s "\\t " " "',
    '10.9.9.9 other.lab\n10.9.9.7 just.lab one.lab\n10.9.9.1 new.lab\n10.9.9.6 wrong.lab',
  ],
  [
    'alternatives',
    'for n in thing other picked auto; do update-alternatives --query $n | grep -E "^(Status|Value):"; done',
    'Status: auto\nValue: /usr/local/bin/thing-a\nStatus: auto\nValue: /usr/local/bin/thing-a\nStatus: manual\nValue: /usr/local/bin/thing-a\nStatus: auto\nValue: /usr/local/bin/thing-b',
  ],
  [
    'mounted',
    'findmnt -no FSTYPE,OPTIONS /srv/t/mnt/new | grep -o "tmpfs\\|nosuid\\|size=1024k"; findmnt /srv/t/mnt/leaving || true',
    'tmpfs\nnosuid\nsize=1024k',
  ],
  [
    'fstab',
    "grep -v '^#' /etc/fstab | tr -s '\\t ' ' '",
    'tmpfs /srv/t/mnt/new tmpfs size=1m,nosuid 0 0\nLABEL=data /srv/data ext4 noatime,nofail 0 2',
  ],
  [
    'locale',
    'locale -a | grep en_US; cat /etc/default/locale /etc/locale.conf 2>/dev/null | grep LANG | sort -u',
    'en_US.utf8\nLANG=en_US.UTF-8',
  ],
  [
    'sysctl',
    'read now </proc/sys/net/ipv4/ip_forward; grep -c "^net.ipv4.ip_forward *= *$now$" /etc/sysctl.d/99-salt.conf',
    '1',
  ],
  [
    'timezone',
    'date +%Z | grep -c CE; readlink -f /etc/localtime',
    '1\n/usr/share/zoneinfo/Europe/Amsterdam',
  ],
  ['hostname', 'hostname; cat /etc/hostname', 'renamed\nrenamed'],
  [
    'service',
    'systemctl is-active tsalt-daemon cron; systemctl is-enabled tsalt-daemon cron; true',
    'active\ninactive\nenabled\ndisabled',
  ],
];

describe.skipIf(missing)(`every state of a Debian host${missing ? ` (${missing})` : ''}`, () => {
  let project: LabProject;
  let web: Server;
  let pillar: string;
  let before: string;

  const inside = (command: string): Promise<string> => lab.sh(host, 'sh', '-c', command);

  beforeAll(async () => {
    project = await startLabProject(
      lab,
      { [host]: { user: 'root' } },
      {
        from: fixtures,
        settings: 'pillar_roots: {base: [pillar]}\nfileserver_followsymlinks: true\n',
      },
    );
    const { dir } = project;
    const address = project.addresses[host] ?? '';
    // Neither survives in git as it is.
    mkdirSync(join(dir, 'states/tree/empty'));
    symlinkSync('one.txt', join(dir, 'states/tree/link'));
    const plain = readFileSync(join(dir, 'states/plain.txt'));
    const template = 'port {{ pillar.lab.port }} {{ word }}\n';
    const zip = zipSync({ 'zipped/file': strToU8('zipped\n') });
    web = createServer((request, response) => {
      const found = { '/plain.txt': plain, '/a.zip': zip, '/template': template }[
        request.url ?? ''
      ];
      response.writeHead(found ? 200 : 404).end(found);
    });
    const own = address.replace(/\d+$/, '1');
    await new Promise<void>(resolve => web.listen(0, own, resolve));
    await inside(readFileSync(join(dir, 'prepare.sh'), 'utf8'));
    pillar = JSON.stringify({
      web: `${own}:${(web.address() as AddressInfo).port}`,
      plain_sha256: `sha256=${sha256(plain)}`,
      zip_sha256: sha256(zip),
      template_sha256: sha256(template),
      key: readFileSync(`${lab.key}.pub`, 'utf8').trim().split(' ').slice(0, 2).join(' '),
      leaving: (await inside('cat /root/leaving.pub')).trim(),
      forwards: (await inside('cat /proc/sys/net/ipv4/ip_forward')).trim() === '1',
    });
    // Brings Node, so that what follows compares hosts that differ by states only.
    await run('test.ping');
    before = await inside(look);
  }, 600_000);

  afterAll(async () => {
    web?.close();
    await project?.close();
  });

  const run = (...args: string[]) => project.run(host, ...args, '--static', '--out', 'json');

  const apply = async (...args: string[]): Promise<[string, StateResult][]> => {
    const { stdout, stderr } = await run('state.apply', ...args, `pillar=${pillar}`);
    expect(stderr).toBe('');
    const states = (JSON.parse(stdout) as Record<string, Record<string, StateResult>>)[host];
    expect(
      Object.keys(states ?? {}).every(tag => tag.includes('_|-')),
      stdout,
    ).toBe(true);
    return Object.entries(states ?? {}).map(([tag, one]) => {
      const [, id, , fun] = tag.split('_|-');
      return [`${id} ${fun}`, one];
    });
  };

  const told = (results: [string, StateResult][]): string[] =>
    results.map(
      ([name, { result, comment, changes }]) =>
        `${name}: ${result} ${comment} ${JSON.stringify(changes)}`,
    );

  test.each([['test=True'], ['test=true'], ['test=1'], ['--dry-run']])(
    '%s moves nothing and says what would',
    async spelling => {
      const results = await apply(spelling);
      expect(results.length).toBeGreaterThan(100);
      const still = [...lookers, ...asWanted, ...everyRun];
      expect(
        told(results.filter(([name, { result }]) => result !== null && !still.includes(name))),
      ).toEqual([]);
      expect(await inside(look)).toBe(before);
    },
  );

  test('the first run does it all', async () => {
    const results = await apply();
    expect(told(results.filter(([, { result }]) => result !== true))).toEqual([]);
    const still = [...lookers, ...asWanted];
    expect(
      told(
        results.filter(
          ([name, { changes }]) => Object.keys(changes).length === 0 && !still.includes(name),
        ),
      ),
    ).toEqual([]);
  });

  test('the system itself says so', async () => {
    const script = facts.map(([, command]) => `(${command}) 2>&1; printf '\\0'`).join('\n');
    const answers = (await inside(script)).split('\0').slice(0, -1);
    expect(Object.fromEntries(facts.map(([what], at) => [what, answers[at]?.trim()]))).toEqual(
      Object.fromEntries(facts.map(([what, , says]) => [what, says])),
    );
  });

  test('changes that a container does not permit are refused with the reason', async () => {
    const results = await apply('refused');
    expect(results.map(([name, { result, comment }]) => [name, result, comment])).toEqual([
      [
        'tsalt_no_such_module present',
        false,
        expect.stringContaining('Module tsalt_no_such_module not found'),
      ],
      ['/srv/t/swapfile swap', false, expect.stringContaining('Operation not permitted')],
      [
        'kernel.no_such_parameter present',
        false,
        expect.stringContaining('sysctl kernel.no_such_parameter does not exist'),
      ],
      [
        '/srv/t/mnt/refused mounted',
        false,
        expect.stringContaining('special device /dev/no-such-device does not exist'),
      ],
    ]);
    expect(await inside('cat /etc/modules-load.d/* | grep tsalt || true')).toBe('');
  });

  test('a template of the host learns nothing from the control node', async () => {
    const results = await apply('confined');
    expect(results.map(([name, { result, comment }]) => [name, result, comment])).toEqual([
      ['/srv/t/new/reads managed', false, expect.stringContaining('plain.txt')],
      ['/srv/t/new/calls managed', false, expect.stringContaining('slsutil.renderer')],
    ]);
  });

  test('the second run changes nothing', async () => {
    const after = await inside(look);
    const results = await apply();
    expect(
      told(
        results.filter(
          ([name, { result, changes }]) =>
            result !== true || (Object.keys(changes).length > 0 && !everyRun.includes(name)),
        ),
      ),
    ).toEqual([]);
    expect(steady(await inside(look))).toBe(steady(after));
  });
});
