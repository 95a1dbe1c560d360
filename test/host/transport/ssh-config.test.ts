import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openTransport } from '../../../src/transport/open-transport.ts';
import { parseSettings, SshConfig } from '../../../src/transport/ssh-config.ts';
import { aHost, scratch, startTestHost } from '../../helpers/hosts.ts';

const { path: home, remove } = scratch();
afterAll(remove);
const env = { HOME: home, PATH: process.env.PATH };
const hasSsh = existsSync('/usr/bin/ssh');

mkdirSync(join(home, '.ssh'));
writeFileSync(join(home, '.ssh/more'), 'Host web*\n  IdentityFile ~/.ssh/web_key\n');
writeFileSync(
  join(home, '.ssh/config'),
  `Include ${home}/.ssh/more
Host web1
  HostName 192.0.2.7
  HostKeyAlias web-one
  Compression yes
  UserKnownHostsFile ${home}/.ssh/kh1 ${home}/.ssh/kh2
Match host web2 user deploy
  ProxyJump jump@bastion:2200
Host *
  IdentitiesOnly yes
`,
);

test.skipIf(!hasSsh)(
  'the user’s ssh configuration is read as ssh reads it: Include, Match, tokens',
  async () => {
    const config = new SshConfig({ file: join(home, '.ssh/config'), env });
    const web1 = await config.settings('web1', 'root', 22);
    expect(web1).toMatchObject({
      hostname: '192.0.2.7',
      hostKeyAlias: 'web-one',
      identitiesOnly: true,
      compression: true,
    });
    expect(web1.knownHostsFiles.slice(0, 2)).toEqual([`${home}/.ssh/kh1`, `${home}/.ssh/kh2`]);
    expect(web1.identityFiles).toContain(join(home, '.ssh/web_key'));
    expect((await config.settings('web2', 'deploy', 22)).proxyJump).toBe('jump@bastion:2200');
    expect((await config.settings('web2', 'root', 22)).proxyJump).toBeUndefined();
  },
);

test('without any configuration the defaults are ssh’s', async () => {
  const config = new SshConfig({ file: false, env });
  const settings = await config.settings('web1', 'root', 22);
  expect(settings.hostname).toBe('web1');
  expect(settings.knownHostsFiles[0]).toBe(join(home, '.ssh/known_hosts'));
});

test('keys of new hosts go to the first file of the user’s, never to one of the system’s', () => {
  const system = 'globalknownhostsfile /etc/ssh/ssh_known_hosts\n';
  const of = (user: string) => parseSettings(`userknownhostsfile ${user}\n${system}`, home);
  expect(of('~/a ~/b').newKeysFile).toBe(`${home}/a`);
  expect(of('/dev/null')).toMatchObject({ knownHostsFiles: ['/etc/ssh/ssh_known_hosts'] });
  expect(of('/dev/null').newKeysFile).toBeUndefined();
  expect(of('none').newKeysFile).toBeUndefined();
});

test.each(['-oProxyCommand=x', 'a b', 'a\nb'])('the name %j never reaches ssh', async name => {
  const config = new SshConfig({ file: join(home, '.ssh/config'), env });
  await expect(config.settings(name)).rejects.toMatchObject({ code: 'host-name' });
});

test.skipIf(!hasSsh)(
  'a host is found by its alias, key and known_hosts of the configuration',
  async () => {
    const target = await startTestHost();
    const file = join(home, '.ssh/alias');
    writeFileSync(
      file,
      `Host alias\n  HostName 127.0.0.1\n  IdentityFile ${target.dir}/id\n  UserKnownHostsFile ${target.knownHosts}\n`,
    );
    const transport = openTransport({ sshConfig: file, env });
    const connection = await transport.connect(aHost({ host: 'alias', port: target.server.port }));
    connection.close();
    await target.close();
  },
);

test.skipIf(!hasSsh)('ProxyCommand of the configuration is the way to the host', async () => {
  const target = await startTestHost();
  const file = join(home, '.ssh/proxy');
  writeFileSync(
    file,
    `Host behind\n  ProxyCommand bash -c "exec 3<>/dev/tcp/127.0.0.1/${target.server.port}; cat <&3 & exec cat >&3"\n  IdentityFile ${target.dir}/id\n  UserKnownHostsFile ${target.dir}/kh\n`,
  );
  writeFileSync(join(target.dir, 'kh'), `behind ${target.server.hostKey}\n`);
  const transport = openTransport({ sshConfig: file, env });
  const connection = await transport.connect(aHost({ host: 'behind' }));
  const channel = await connection.exec('echo there');
  let text = '';
  for await (const chunk of channel.stdout) text += chunk;
  expect(text).toBe('there\n');
  connection.close();
  await target.close();
});
