import { mkdirSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../helpers/cli.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { startSshd } from '../helpers/sshd.ts';
import { countingProxy, interleave, median, type Row, tableOf, timeProcess } from './measure.ts';

const count = 100;

const content = (index: number): string => `# web1 file ${index} - managed by bench
[service]
name = svc-${index}
value = bench-42
listen = 127.0.0.1:${8000 + index}
log = /var/log/svc-${index}.log
workers = 4
timeout = 30
`;

const sls = (root: string): string => `${root}:
  file.directory:
    - makedirs: true
{% for i in (1..${count}) %}
${root}/f{{ i }}:
  file.managed:
    - source: salt://file.liquid
    - template: liquid
    - mode: '0644'
    - context: { i: {{ i }}, value: bench-42 }
{% endfor %}
`;

const template = `# {{ grains.id }} file {{ i }} - managed by bench
[service]
name = svc-{{ i }}
value = {{ value }}
listen = 127.0.0.1:{{ i | plus: 8000 }}
log = /var/log/svc-{{ i }}.log
workers = 4
timeout = 30
`;

/**
 * The minimal work of a run on the host: the same checks, already rendered, without dependencies.
 */
const floorScript = (root: string): string => {
  const files = Array.from({ length: count }, (_, at) => [`${root}/f${at + 1}`, content(at + 1)]);
  return `const fs=require('fs');process.umask(0o022);
const put=(id,changed)=>process.stdout.write(JSON.stringify({id,result:true,changed})+'\\n');
fs.mkdirSync(${JSON.stringify(root)},{recursive:true});
for(const [p,c] of ${JSON.stringify(files)}){let st,cur;try{st=fs.lstatSync(p);cur=fs.readFileSync(p,'utf8')}catch(e){if(e.code!=='ENOENT')throw e}
if(cur===c&&(st.mode&0o7777)===0o644){put(p,false);continue}
fs.writeFileSync(p+'.new',c,{mode:0o644});fs.chmodSync(p+'.new',0o644);fs.renameSync(p+'.new',p);put(p,true)}
`;
};

/**
 * Warm no-op apply of 100 managed files on one sshd, against the floor in the same run; the
 * same with the artifact uploaded; and what goes over the wire.
 */
export const benchFiles = async (runs = 11): Promise<{ table: string; rows: readonly Row[] }> => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-bench-'));
  // sshd's sessions get a HOME and PATH of their own: this machine's shell profile is not measured.
  const home = join(dir, 'home');
  mkdirSync(home);
  delete process.env.NODE_EXTRA_CA_CERTS; // reading it is Node's start, not what is compared
  const sshd = await startSshd({
    dir: join(dir, 'sshd'),
    config: [`SetEnv HOME=${home} BASH_ENV=`, 'LogLevel VERBOSE'],
  });
  try {
    return await measure({ dir, home, sshd, runs });
  } finally {
    await sshd.close();
    removeFolder(dir);
  }
};

type Bench = {
  dir: string;
  home: string;
  sshd: Awaited<ReturnType<typeof startSshd>>;
  runs: number;
};

const measure = async ({
  dir,
  home,
  sshd,
  runs,
}: Bench): Promise<{ table: string; rows: readonly Row[] }> => {
  const root = join(dir, 'target');
  const script = join(dir, 'floor.cjs');
  writeFileSync(script, floorScript(root));
  const project = (name: string, port: number): string => {
    const folder = join(dir, name);
    mkdirSync(join(folder, 'states'), { recursive: true });
    writeFileSync(join(folder, 'states/files.sls'), sls(root));
    writeFileSync(join(folder, 'states/file.liquid'), template);
    writeFileSync(join(folder, 'known_hosts'), `[127.0.0.1]:${port} ${sshd.hostKeys[0]}\n`);
    writeFileSync(
      join(folder, 'tsalt.yaml'),
      `known_hosts_file: known_hosts\ncachedir: ${join(dir, 'cache')}\n`,
    );
    writeFileSync(
      join(folder, 'roster.yaml'),
      `web1:\n  host: 127.0.0.1\n  port: ${port}\n  user: ${sshd.user}\n  priv: ${sshd.key}\n`,
    );
    return folder;
  };
  const warm = project('warm', sshd.port);
  const env = { XDG_CACHE_HOME: join(dir, 'xdg') };
  const tsalt = (folder: string) => () =>
    timeProcess(
      [
        process.execPath,
        join(packageRoot, 'dist/tsalt-ssh.cjs'),
        'web1',
        'state.apply',
        'files',
        '--out=quiet',
      ],
      env,
      folder,
    );
  const floor = () =>
    timeProcess([process.execPath, join(packageRoot, 'test/bench/floor.mjs')], {
      PORT: String(sshd.port),
      KEY: sshd.key,
      SCRIPT: script,
      LOGIN: sshd.user,
    });
  const cold = () => {
    removeFolder(join(home, '.cache'));
    return tsalt(warm)();
  };
  await tsalt(warm)();
  await tsalt(warm)();
  const before = stamps(root);
  const times = await interleave(runs, { floor, warm: tsalt(warm), cold });
  if (stamps(root) !== before) throw new Error('a no-op run rewrote files');
  const wire = await countWire(project, sshd, tsalt);
  const base = median(times.floor ?? []);
  const rows = Object.entries(times).map(([name, values]) => ({
    name: name === 'floor' ? 'ssh2-node (floor)' : `tsalt-ssh ${name}`,
    'median ms': Math.round(median(values)),
    'min ms': Math.round(Math.min(...values)),
    'x floor': (median(values) / base).toFixed(2),
    ...(name === 'warm' ? wire : {}),
  }));
  return { table: tableOf(rows), rows };
};

const stamps = (root: string): string =>
  readdirSync(root)
    .map(name => `${name} ${statSync(join(root, name)).mtimeMs}`)
    .join('\n');

/** One warm run through a counting proxy. Channels are counted by sshd's own log. */
const countWire = async (
  project: (name: string, port: number) => string,
  sshd: Bench['sshd'],
  tsalt: (folder: string) => () => Promise<number>,
): Promise<Record<string, number | string>> => {
  const proxy = await countingProxy(sshd.port);
  try {
    const folder = project('counted', proxy.port);
    await tsalt(folder)();
    Object.assign(proxy.counts, { connections: 0, up: 0, down: 0 });
    const sessions = (): number => sshd.log().match(/Starting session/g)?.length ?? 0;
    const begun = sessions();
    await tsalt(folder)();
    const { connections, up, down } = proxy.counts;
    const channels = sessions() - begun;
    const trips = await countTrips(project, sshd, tsalt);
    return { connections, channels, 'bytes up': up, 'bytes down': down, 'round trips': trips };
  } finally {
    await proxy.close();
  }
};

/** Long, so that a busy machine's own delays do not count as round trips. */
const rtt = 1000;

/**
 * Round trips of the whole warm apply, from the connection to the last result: what a delay of
 * one second per trip adds. The proxy accepts the connection at once, so its trip is added.
 */
const countTrips = async (
  project: (name: string, port: number) => string,
  sshd: Bench['sshd'],
  tsalt: (folder: string) => () => Promise<number>,
): Promise<string> => {
  const slow = await countingProxy(sshd.port, rtt / 2);
  const quick = await countingProxy(sshd.port);
  try {
    const [slowly, quickly] = [
      tsalt(project('slow', slow.port)),
      tsalt(project('quick', quick.port)),
    ];
    const extra = (await slowly()) - (await quickly());
    return (extra / rtt + 1).toFixed(1);
  } finally {
    await slow.close();
    await quick.close();
  }
};
