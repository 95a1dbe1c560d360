import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../src/protocol/host.ts';
import { openTransport } from '../../../src/transport/open-transport.ts';
import { jumpOption } from '../../../src/transport/openssh-jump.ts';
import type { HostKeyMode } from '../../../src/transport/transport.ts';
import { fault } from '../../helpers/fault.ts';
import { aHost, scratch } from '../../helpers/hosts.ts';
import { hasSshd, type Sshd, startSshd } from '../../helpers/sshd.ts';

const { path: dir, remove } = scratch('tsalt jump');
const server = scratch('tsalt-sshd');
let sshd: Sshd;
beforeAll(async () => {
  if (!hasSshd) return;
  sshd = await startSshd({ dir: server.path });
  writeFileSync(join(dir, 'known'), `[127.0.0.1]:${sshd.port} ${sshd.hostKeys[0]}\n`);
  writeFileSync(join(dir, 'config'), `IdentityFile ${sshd.key}\n`);
});
afterAll(async () => {
  await sshd?.close();
  remove();
  server.remove();
});

/** Exit code and words of `echo there`, over these jump hosts to the same machine. */
const over = async (proxy_jump: string, hostKeys: HostKeyMode) => {
  const transport = openTransport({
    transport: 'openssh',
    hostKeys,
    knownHostsFiles: [join(dir, 'known')],
    sshConfig: join(dir, 'config'),
    env: { PATH: process.env.PATH, HOME: dir },
  });
  const host = aHost({ user: sshd.user, port: sshd.port, proxy_jump });
  const channel = await (await transport.connect(host)).exec('echo there');
  let [stdout, stderr] = ['', ''];
  channel.stdout.on('data', chunk => {
    stdout += String(chunk);
  });
  channel.stderr.on('data', chunk => {
    stderr += String(chunk);
  });
  const { code } = await channel.exited;
  transport.close();
  return { code, stdout, stderr };
};

test.skipIf(!hasSshd)(
  'the hops of transport openssh are checked by the known_hosts and the rules of the run',
  { tags: 'slow', timeout: 240_000 },
  async () => {
    const known = `${sshd.user}@127.0.0.1:${sshd.port}`;
    expect(await over(`${known},${known}`, 'strict')).toMatchObject({ code: 0, stdout: 'there\n' });
    const stranger = `${sshd.user}@localhost:${sshd.port}`;
    const refused = await over(`${known},${stranger}`, 'strict');
    expect(refused).toMatchObject({ code: 255, stdout: '' });
    expect(refused.stderr).toContain('Host key verification failed');
    expect(await over(`${known},${stranger}`, 'ignore')).toMatchObject({ stdout: 'there\n' });
  },
);

test.each(['-oX=y', 'a,-b', 'user@-b', 'a b', '', 'a,,b', 'a;b'])(
  'the jump %j is refused',
  jump => {
    expect(() => jumpOption(jump, [])).toThrow('is not a jump host');
  },
);

test('each shell on the way reads what was meant for it', () => {
  expect(jumpOption('me@[::1]:22,b', ['-F', '/x y%'])).toBe(
    "ProxyCommand='ssh' '-F' '/x y%%' '-o' 'ProxyCommand='\\''ssh'\\'' '\\''-F'\\'' '\\''/x y%%%%'\\'' '\\''-l'\\'' '\\''me'\\'' '\\''-p'\\'' '\\''22'\\'' -W '\\''[%%h]:%%p'\\'' -- '\\''::1'\\''' -W '[%h]:%p' -- 'b'",
  );
  expect(jumpOption('none', [])).toBe('ProxyJump=none');
});

test('transport openssh says that it has no use for priv_passwd', async () => {
  const opened = openTransport({ transport: 'openssh', env: {} });
  const host = aHost({ priv: '/key', priv_passwd: new Secret('x') });
  expect((await fault(opened.connect(host))).message).toBe(
    'web1: transport openssh cannot use priv_passwd.',
  );
});
