import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import * as files from '../../../src/modules/apache/exec/apache/files.ts';
import * as parts from '../../../src/modules/apache/exec/apache/parts.ts';
import * as server from '../../../src/modules/apache/exec/apache/server.ts';
import * as state from '../../../src/modules/apache/states/apache.ts';
import type { PlainDict } from '../../../src/modules/api.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';
import { notedPrograms } from '../../modules/_programs.ts';

const apache = { ...files, ...parts, ...server };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tsalt-apache-'));
});
afterEach(() => removeFolder(folder));

describe('files of the configuration', () => {
  const config: PlainDict[] = [
    { Listen: 8080 },
    {
      VirtualHost: {
        this: '*:80',
        ServerName: ['website.com'],
        ServerAlias: ['www.website.com', 'dev.website.com'],
        DocumentRoot: '/var/www',
        Directory: { this: '/var/www', 'Allow from': ['127.0.0.1', '192.168.100.0/24'] },
      },
    },
    {
      IfModule: [
        { this: 'mod_x.c' },
        { Directory: { this: '/a', Require: 'all granted' } },
        { Directory: { this: '/b', Require: 'all denied' } },
      ],
    },
  ];
  // The output of Salt 3006.9, without the number that it omits.
  const text = `Listen 8080
<VirtualHost *:80>
ServerName website.com

ServerAlias www.website.com
ServerAlias dev.website.com

DocumentRoot /var/www
<Directory /var/www>
Allow from 127.0.0.1
Allow from 192.168.100.0/24

</Directory>

</VirtualHost>

<IfModule mod_x.c>
<Directory /a>
Require all granted
</Directory>

<Directory /b>
Require all denied
</Directory>

</IfModule>
`;

  test('are written from data, as Salt writes them', async () => {
    const name = join(folder, 'site.conf');
    const context = contextOf({ apache });
    expect(await files.config(name, config, false)).toBe(text);
    const run = (where = context) => within(where, () => state.configfile(name, config));
    expect(await run(testing(context))).toMatchObject({
      result: null,
      comment: 'Configuration will update.',
      changes: { old: '', new: text },
    });
    expect(await run()).toMatchObject({ result: true, changes: { old: '', new: text } });
    expect(readFileSync(name, 'utf8')).toBe(`${text}\n`);
    expect(await run()).toMatchObject({ result: true, comment: 'Configuration is up to date.' });
    expect(await files.config(name, config)).toBe(text);
    expect(readFileSync(name, 'utf8')).toBe(`# This file is managed by Salt.\n${text}`);
  });

  test('need to know what stands behind the name of a section', async () => {
    const broken = [{ Directory: { Require: 'all granted' } }];
    const context = contextOf({ apache });
    expect(await within(context, () => state.configfile(join(folder, 'x'), broken))).toMatchObject({
      result: false,
      comment:
        'Apache section container "<Directory>" expects attribute. Specify it using key "this".',
    });
  });
});

describe('the server', () => {
  const programs = notedPrograms();

  test('returns its virtual hosts, with and without names', async () => {
    programs.program(
      'apache2ctl',
      `cat <<'END'
VirtualHost configuration:
*:443                  one.example.com (/etc/apache2/sites-enabled/one.conf:3)
*:80                   is a NameVirtualHost
         default server a.example.com (/etc/apache2/sites-enabled/a.conf:1)
         port 80 namevhost a.example.com (/etc/apache2/sites-enabled/a.conf:1)
                 alias www.a.example.com
         port 80 namevhost b.example.com (/etc/apache2/sites-enabled/b.conf:1)
ServerRoot: "/etc/apache2"
END`,
    );
    const conf = (name: string): string => `/etc/apache2/sites-enabled/${name}`;
    expect(await server.vhosts()).toEqual({
      '*:443': { default: { vhost: 'one.example.com', conf: conf('one.conf:3') } },
      '*:80': {
        default: { vhost: 'a.example.com', conf: conf('a.conf:1') },
        'a.example.com': { vhost: 'a.example.com', conf: conf('a.conf:1'), port: '80' },
        'b.example.com': { vhost: 'b.example.com', conf: conf('b.conf:1'), port: '80' },
      },
    });
    expect(programs.log()).toEqual(['apache2ctl -S']);
  });

  test('accepts only known signals', async () => {
    programs.program('apache2ctl', 'true');
    expect(await server.signal('graceful')).toBe(
      'Command: "apache2ctl -k graceful" completed successfully!',
    );
    expect(await server.signal('explode')).toBeNull();
    expect(programs.log()).toEqual(['apache2ctl -k graceful']);
  });

  test('returns its status', async () => {
    const web = createServer((request, answer) => {
      if (request.headers.authorization !== `Basic ${btoa('ann:secret')}`) answer.statusCode = 401;
      answer.end(
        'ServerVersion: Apache/2.4\nTotal Accesses: 12\nReqPerSec: .5\nScoreboard: __W.\n',
      );
    });
    await new Promise<void>(done => web.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/server-status`;
    const asked = { 'server-status': { url, user: 'ann', pass: 'secret' } };
    const config = { option: async () => ({ mine: asked['server-status'], open: { url } }) };
    const context = contextOf({ config });
    expect(await within(context, () => files.server_status('mine'))).toMatchObject({
      ServerVersion: 'Apache/2.4',
      'Total Accesses': 12,
      ReqPerSec: 0.5,
      Scoreboard: { _: 2, W: 1, '.': 1, S: 0 },
    });
    expect(await within(context, () => files.server_status('open'))).toBe('error');
    await new Promise(done => web.close(done));
  });
});

describe.skipIf(!which('apache2ctl'))('the real Apache', () => {
  test('returns its build settings', async () => {
    expect(await server.version()).toMatch(/^Apache\/2/);
    expect(await server.fullversion()).toMatchObject({
      server_mpm: expect.stringMatching(/event|worker|prefork/),
      compiled_with: expect.arrayContaining(['APR_HAS_MMAP']),
    });
    const modules = await server.modules();
    expect(modules.static).toContain('core_module');
    expect(modules.shared.length).toBeGreaterThan(3);
    expect(await server.servermods()).toContain('core.c');
    expect((await server.directives())['Listen (core.c)'] ?? '').toBe('');
    expect((await server.directives())['<Directory (core.c)']).toContain('Container for');
    expect(await server.configtest()).toBe('Syntax OK');
  });
});
