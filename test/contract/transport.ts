import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TsaltError } from '../../src/protocol/error.ts';
import { type Host, Secret } from '../../src/protocol/host.ts';
import { WithContent } from '../../src/protocol/peer.ts';
import { openRuntime } from '../../src/transport/bootstrap.ts';
import type { NodeSource } from '../../src/transport/node-source.ts';
import { openTransport } from '../../src/transport/open-transport.ts';
import { type RawResult, runRaw } from '../../src/transport/raw-shell.ts';
import type { Link, RuntimeOptions } from '../../src/transport/runtime-link.ts';
import type {
  Channel,
  Connection,
  Transport,
  TransportOptions,
} from '../../src/transport/transport.ts';
import { fault } from '../helpers/fault.ts';
import { tinyArtifact } from '../helpers/tiny-artifact.ts';

export type ContractSubject = {
  readonly host: Host;
  readonly options: TransportOptions;
  readonly nodeSource?: NodeSource;
  readonly close: () => Promise<void> | void;
};

/**
 * What every transport promises, run against one host. Each test leaves that host as it was: all
 * happens in one scratch folder there.
 */
export const transportContract = (
  name: string,
  start: () => Promise<ContractSubject>,
  { skip = false, oneAtATime = false }: { skip?: boolean; oneAtATime?: boolean } = {},
): void => {
  describe.skipIf(skip)(name, () => {
    let subject: ContractSubject;
    let transport: Transport;
    let connection: Connection;
    let artifact: Awaited<ReturnType<typeof tinyArtifact>>;
    let dir: string;

    const used: Connection[] = [];
    /** The connection that a command goes over; a new one for each, if no two may meet there. */
    const way = async (): Promise<Connection> => {
      if (used.length > 0 && !oneAtATime) return connection;
      connection = await transport.connect(subject.host);
      used.push(connection);
      return connection;
    };
    const shell = async (command: string): Promise<RawResult> =>
      await runRaw({ connection: await way(), host: subject.host, command });
    const open = async (
      given: Partial<Host> = {},
      options: Partial<RuntimeOptions> = {},
    ): Promise<Link> => {
      const host = { ...subject.host, thin_dir: `${dir}/ws`, ...given };
      return await openRuntime({
        connection: await way(),
        host,
        artifact,
        handlers: {},
        events: {},
        ...(subject.nodeSource ? { nodeSource: subject.nodeSource } : {}),
        ...options,
      });
    };
    beforeAll(async () => {
      subject = await start();
      artifact = await tinyArtifact();
      transport = openTransport(subject.options);
      dir = (await shell('mktemp -d /var/tmp/tsalt-contract-XXXXXX')).stdout.trim();
      // Where Node must be brought, that happens here, once.
      (await open()).close();
    }, 240_000);
    afterAll(async () => {
      if (dir) await shell(`rm -rf ${dir}`);
      for (const each of used) each.close();
      transport?.close();
      await subject?.close();
    });

    test('a command has its own stdout, stderr and exit code', async () => {
      const { stdout, stderr, retcode } = await shell('echo out; echo err >&2; exit 7');
      expect({ stdout, stderr, retcode }).toEqual({ stdout: 'out\n', stderr: 'err\n', retcode: 7 });
    });

    test('a raw command finds its stdin empty', async () => {
      expect((await shell('cat; echo end')).stdout).toBe('end\n');
    });

    test('four megabytes of any bytes pass both ways unchanged', async () => {
      const channel = await (await way()).exec('cat');
      const bytes = randomBytes(4 * 1024 * 1024);
      channel.stdin.end(bytes);
      const hash = createHash('sha256');
      for await (const chunk of channel.stdout) hash.update(chunk as Buffer);
      expect(hash.digest('hex')).toBe(createHash('sha256').update(bytes).digest('hex'));
      expect((await channel.exited).code).toBe(0);
    });

    test('a command that nobody reads from does not lose what it prints', async () => {
      const channel = await (await way()).exec('head -c 3000000 /dev/zero; echo x >&2');
      drain(channel);
      await new Promise(resolve => setTimeout(resolve, 200));
      let size = 0;
      for await (const chunk of channel.stdout) size += (chunk as Buffer).length;
      expect(size).toBe(3_000_000);
    });

    test('closing a channel is the end of the stdin of its command', async () => {
      // Not in the scratch folder: with sudo it is another user's.
      const file = `${dir}-closed`;
      const channel = await (await way()).exec(`cat >/dev/null; echo gone >${file}`);
      channel.close();
      await expect.poll(async () => (await shell(`cat ${file}`)).stdout).toBe('gone\n');
      await shell(`rm ${file}`);
    });

    if (!oneAtATime)
      test('several commands run at the same time', async () => {
        const all = await Promise.all([1, 2, 3, 4].map(n => shell(`echo ${n}`)));
        expect(all.map(({ stdout }) => stdout.trim())).toEqual(['1', '2', '3', '4']);
      });

    test('a runtime starts cold, and warm the next time', async () => {
      const thin_dir = `${dir}/cold`;
      const first = await open({ thin_dir, ...(await nodeThere(subject, dir, shell)) });
      expect(first.cached).toBe(false);
      expect(await first.peer.request('echo', { text: 'grüße \u0000 "\'' })).toEqual({
        text: 'grüße \u0000 "\'',
      });
      first.close();
      const second = await open({ thin_dir, ...(await nodeThere(subject, dir, shell)) });
      expect(second.cached).toBe(true);
      expect(await second.peer.request('dir', {})).toBe(thin_dir);
      second.close();
    });

    test('a request sent early is answered', async () => {
      let answer: Promise<unknown> = Promise.resolve();
      const link = await open({}, { early: peer => (answer = peer.request('echo', [1, null])) });
      expect(await answer).toEqual([1, null]);
      link.close();
    });

    test('bytes come with answers, both ways, and memory stays small', async () => {
      const size = 48 * 1024 * 1024;
      async function* content(): AsyncGenerator<Uint8Array> {
        for (let sent = 0; sent < size; sent += 1024 * 1024) yield new Uint8Array(1024 * 1024);
      }
      const link = await open(
        {},
        { handlers: { 'file.get': () => new WithContent({ found: true }, content()) } },
      );
      let received = 0;
      await link.peer.request('bytes', { count: 3_000_000 }, chunk => {
        received += chunk.length;
      });
      expect(received).toBe(3_000_000);
      const before = process.memoryUsage().rss;
      const pulled = await link.peer.request<{ size: number }>('pull', {
        method: 'file.get',
        params: {},
      });
      expect(pulled.size).toBe(size);
      expect(process.memoryUsage().rss - before).toBeLessThan(size);
      link.close();
    });

    test('the runtime sees a clean environment and no arguments of its loader', async () => {
      const link = await open();
      const env = await link.peer.request<Record<string, unknown>>('env', {});
      expect(env.NODE_OPTIONS).toBeUndefined();
      expect(String(env.PATH).split(':')).toContain('/usr/sbin');
      expect(env.argv).toEqual([expect.any(String), 'tsalt-ssh']);
      link.close();
    });

    test('no secret of the roster or of a message is in the arguments of the runtime, or of what started it', async () => {
      const { sudo, sudo_passwd } = subject.host;
      const secret = () => randomBytes(12).toString('hex');
      const [message, passwd, priv, become] = [secret(), secret(), secret(), secret()];
      const link = await open({
        passwd: new Secret(passwd),
        priv_passwd: new Secret(priv),
        ...(sudo ? {} : { sudo_passwd: new Secret(become) }),
        minion_opts: { token: message },
        grains: { token: message },
      });
      expect(await link.peer.request('echo', message)).toBe(message);
      const { pid } = await link.peer.request<{ pid: number }>('env', {});
      const lines = `p=${pid}; while [ "$p" -gt 1 ]; do tr '\\0' '\\n' <"/proc/$p/cmdline"; p=$(sed 's/.*) . //; s/ .*//' "/proc/$p/stat"); done`;
      const there = (await shell(lines)).stdout;
      // A tree for chroot has no /proc of its own; its processes are this machine's.
      const stdout =
        there.trim() === '' && subject.host.transport === 'chroot'
          ? execFileSync('sh', ['-c', lines], { encoding: 'utf8' })
          : there;
      link.close();
      // The loader has its settings in base64.
      const decoded = stdout
        .split(/[^A-Za-z0-9+/=]+/)
        .map(word => Buffer.from(word, 'base64').toString('latin1'));
      const seen = [stdout, ...decoded].join('\n');
      expect(seen).toContain(`"sha":"${artifact.sha256}"`);
      for (const each of [message, passwd, priv, become, sudo_passwd?.reveal()])
        if (each !== undefined) expect(seen.includes(each)).toBe(false);
    });

    test('cmd_umask is the umask of the runtime', async () => {
      const link = await open({ cmd_umask: '0027' });
      expect((await link.peer.request<{ umask: number }>('env', {})).umask).toBe(0o027);
      link.close();
    });

    test('workspace and files are private even under umask 000', async () => {
      const thin_dir = `${dir}/umask`;
      const careless: Connection = {
        ...(await way()),
        exec: (command, options) => connection.exec(`umask 000; ${command}`, options),
      };
      const node = await nodeThere(subject, dir, shell);
      const link = await open({ thin_dir, ...node }, { connection: careless });
      // sudo has a umask of its own.
      const { umask } = await link.peer.request<{ umask: number }>('env', {});
      expect(umask).toBe(subject.host.sudo ? 0o022 : 0);
      link.close();
      const files = `${thin_dir} ${thin_dir}/${artifact.sha256}.js`;
      await expect.poll(async () => (await shell(`ls ${thin_dir}/*.cache`)).retcode).toBe(0);
      const { stdout } = await shell(`ls -ldn ${files} ${thin_dir}/*.cache | cut -c1-10`);
      expect(stdout).toBe('drwx------\n-rw-------\n-rw-------\n');
    });

    test('a workspace that is a link, or that others can write, is refused', async () => {
      await shell(
        `mkdir -p -m 700 ${dir}/real; ln -s ${dir}/real ${dir}/link; mkdir -m 777 ${dir}/open; chmod 777 ${dir}/open`,
      );
      const node = await nodeThere(subject, dir, shell);
      for (const thin_dir of [`${dir}/link`, `${dir}/open`]) {
        const { code, kind } = await fault(open({ thin_dir, ...node }));
        expect({ code, kind }).toEqual({ code: 'workspace-unsafe', kind: 'host' });
      }
    });

    test('an artifact that was altered or cut on the host is not run but replaced', async () => {
      const file = `${dir}/ws/${artifact.sha256}.js`;
      for (const damage of [
        `echo 'process.exit(9)' >${file}`,
        `head -c 100 ${file} >${file}.t; mv ${file}.t ${file}; chmod 600 ${file}`,
      ]) {
        await shell(damage);
        const link = await open();
        expect(link.cached).toBe(false);
        expect(await link.peer.request('echo', 1)).toBe(1);
        link.close();
      }
    });

    test('an artifact that is altered on the way is not run', async () => {
      const { brotliCompressSync } = await import('node:zlib');
      const evil = Buffer.from(
        `require('fs').writeFileSync('${dir}/evil', '')`.padEnd(artifact.size),
      );
      const sha256 = 'a'.repeat(64);
      const error = await fault(
        open(
          {},
          {
            artifact: {
              sha256,
              size: artifact.size,
              compressed: async () => brotliCompressSync(evil),
            },
          },
        ),
      );
      expect(error.code).toBe('artifact-hash');
      expect((await shell(`ls ${dir}/evil`)).retcode).not.toBe(0);
    });

    test('a run in a random workspace leaves nothing behind', async () => {
      const node = await nodeThere(subject, dir, shell);
      const link = await open({ thin_dir: `${dir}/rand`, ...node }, { randomDir: true });
      expect(await link.peer.request('dir', {})).toMatch(/\/rand-[0-9a-f]{16}$/);
      link.close();
      await expect.poll(async () => (await shell(`ls -d ${dir}/rand*`)).stdout).toBe('');
    });

    test('a runtime that ends in the middle is reported with its status', async () => {
      const link = await open();
      const error = await fault(link.peer.request('crash', {}));
      expect(error.code).toBe('runtime-ended');
      expect(error.message).toContain('status 3');
    });

    test('a runtime that no longer answers is given up', async () => {
      // The host learns this before the first ping: a busy host may answer the others slowly.
      const link = await open(
        {},
        {
          timeouts: { heartbeat: 0.3 },
          early: peer => void peer.request('freeze', {}).catch(() => undefined),
        },
      );
      const { code, kind } = (await link.ended) as TsaltError;
      expect({ code, kind }).toEqual({ code: 'runtime-stuck', kind: 'host' });
    });

    test.each([
      ['a frame of 4 GB', '\xff\xff\xff\xff\x01', 'wire-frame'],
      ['a frame of unknown type', '\x00\x00\x00\x01\x09x', 'wire-frame'],
      ['a compressed frame that was not allowed', '\x00\x00\x00\x00\x06', 'wire-frame'],
      ['text that is no JSON', '\x00\x00\x00\x02\x01hi', 'wire-protocol'],
      [
        'an answer that nobody asked for',
        '\x00\x00\x00\x16\x01{"t":"res","id":12345}',
        'wire-protocol',
      ],
      [
        'an unknown event',
        '\x00\x00\x00\x18\x01{"t":"evt","name":"evil"}'.replace('\x18', '\x19'),
        'wire-protocol',
      ],
    ])('%s ends this host with a named cause', async (_, text, code) => {
      const link = await open();
      const error = await fault(link.peer.request('raw', { text }));
      expect({ code: error.code, kind: error.kind }).toEqual({ code, kind: 'host' });
    });

    test('cancelling ends the runtime', async () => {
      const stop = new AbortController();
      const link = await open({}, { signal: stop.signal });
      const { pid } = await link.peer.request<{ pid: number }>('env', {});
      stop.abort();
      expect(((await link.ended) as TsaltError).code).toBe('cancelled');
      await expect.poll(async () => (await shell(`kill -0 ${pid}`)).retcode).not.toBe(0);
    });

    test('a run that takes too long is ended', async () => {
      // On a busy host the time may be over before its hello.
      const why = await open({}, { timeouts: { total: 0.3 } }).then(
        link => link.ended,
        (error: unknown) => error,
      );
      expect((why as TsaltError).code).toBe('host-timeout');
    });

    test('a roster value that no shell would leave alone is refused before anything runs', async () => {
      for (const given of [
        { thin_dir: "/tmp/x'; touch /tmp/y; '" },
        { set_path: '/a\n/b' },
        { node_bin: '/a!b' },
      ])
        expect((await fault(open(given))).code).toBe('roster-value');
    });

    test('shell characters that can be passed on are passed on as they are', async () => {
      const thin_dir = `${dir}/a b;$(touch ${dir}/pwned)&"c"`;
      const link = await open({ thin_dir, ...(await nodeThere(subject, dir, shell)) });
      expect(await link.peer.request('dir', {})).toBe(thin_dir);
      link.close();
      expect((await shell(`ls ${dir}/pwned`)).retcode).not.toBe(0);
    });
  });
};

const drain = ({ stderr }: Channel): void => {
  stderr.resume();
};

/** Where Node was brought into the first workspace, further ones use it from there. */
const nodeThere = async (
  { nodeSource }: ContractSubject,
  dir: string,
  shell: (command: string) => Promise<RawResult>,
): Promise<Partial<Host>> =>
  nodeSource ? { node_bin: (await shell(`ls ${dir}/ws/node-*`)).stdout.trim() } : {};
