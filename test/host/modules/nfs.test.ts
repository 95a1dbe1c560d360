import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { canRunApart, runApart } from '../../helpers/apart.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { notedPrograms } from '../../modules/_programs.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
let folder = '';
let file = '';
const programs = notedPrograms();
beforeEach(() => {
  host = makeHost();
  folder = mkdtempSync(join(tmpdir(), 'tsalt-nfs-'));
  file = join(folder, 'exports');
});
afterEach(() => {
  host.remove();
  removeFolder(folder);
});

const text = `# exports(5)
/srv/a *(ro,sync) 10.0.0.0/8(rw) # all
/srv/b /srv/c host(ro)
"/srv/with blank" \\
  host(rw)

/srv/d
`;

test('the file is read with its comments, continued lines, shared and quoted paths', async () => {
  writeFileSync(file, text);
  expect(await host.call('nfs3.list_exports', file)).toEqual({
    '/srv/a': [
      { hosts: '*', options: ['ro', 'sync'] },
      { hosts: '10.0.0.0/8', options: ['rw'] },
    ],
    '/srv/b': [{ hosts: 'host', options: ['ro'] }],
    '/srv/c': [{ hosts: 'host', options: ['ro'] }],
    '/srv/with blank': [{ hosts: 'host', options: ['rw'] }],
    '/srv/d': [],
  });
  expect(await host.call('nfs3.list_exports', join(folder, 'none'))).toEqual({});
});

test('an export comes and goes, and all else in the file stays', async () => {
  writeFileSync(file, text);
  await host.call('nfs3.add_export', file, '/srv/b', '*.example.com', ['rw']);
  await host.call('nfs3.add_export', file, '/srv/new one', 'host');
  await host.call('nfs3.del_export', file, '/srv/with blank');
  expect(readFileSync(file, 'utf8')).toBe(`# exports(5)
/srv/a *(ro,sync) 10.0.0.0/8(rw) # all
/srv/c host(ro)
/srv/b host(ro) *.example.com(rw)

/srv/d
"/srv/new one" host()
`);
  await expect(host.call('nfs3.del_export', file, '/srv/none')).rejects.toThrow(
    `/srv/none is not exported in ${file}.`,
  );
  await expect(host.call('nfs3.add_export', file, '/srv/x', 'a b')).rejects.toThrow(
    "'a b' cannot stand in /etc/exports.",
  );
});

test('an export stays when one of its new clients cannot be written', async () => {
  programs.program('exportfs', '');
  writeFileSync(file, text);
  const clients = [
    { hosts: 'one', options: ['rw'] },
    { hosts: 'two', options: ['ro)'] },
  ];
  for (const work of [host.test, host.state])
    expect(await work('nfs_export.present', '/srv/a', { clients, exports: file })).toMatchObject({
      result: false,
      changes: nothing,
      comment: "'ro)' cannot stand in /etc/exports.",
    });
  for (const path of ['srv', '/srv\n/etc', '/srv"'])
    await expect(host.call('nfs3.add_export', file, path, '*')).rejects.toThrow(
      'cannot stand in /etc/exports.',
    );
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('states export to these clients alone, once', async () => {
  programs.program('exportfs', '');
  writeFileSync(file, text);
  const options = {
    clients: [{ hosts: 'one', options: ['rw', 'sync'] }, { hosts: 'two' }],
    exports: file,
  };
  const clients = [
    { hosts: 'one', options: ['rw', 'sync'] },
    { hosts: 'two', options: [] },
  ];
  const old = [
    { hosts: '*', options: ['ro', 'sync'] },
    { hosts: '10.0.0.0/8', options: ['rw'] },
  ];
  expect(await host.test('nfs_export.present', '/srv/a', options)).toEqual({
    name: '/srv/a',
    result: null,
    changes: { old, new: clients },
    comment: 'Export /srv/a would be changed',
  });
  expect(readFileSync(file, 'utf8')).toBe(text);
  expect(await host.state('nfs_export.present', '/srv/a', options)).toEqual({
    name: '/srv/a',
    result: true,
    changes: { old, new: clients },
    comment: '',
  });
  expect(readFileSync(file, 'utf8')).toContain('/srv/a one(rw,sync) two()\n');
  expect(await host.state('nfs_export.present', '/srv/a', options)).toMatchObject({
    result: true,
    changes: nothing,
    comment: 'Export /srv/a already configured',
  });
  expect(
    await host.test('nfs_export.present', '/srv/n', { hosts: 'x', exports: file }),
  ).toMatchObject({
    changes: { old: null, new: [{ hosts: 'x', options: [] }] },
    comment: 'Export /srv/n would be added',
  });
  expect(await host.state('nfs_export.present', '/srv/n')).toMatchObject({
    result: false,
    comment: "Either 'clients' or 'hosts' must be defined",
  });
  expect(await host.test('nfs_export.absent', '/srv/a', { exports: file })).toMatchObject({
    result: null,
    changes: { '/srv/a': clients },
    comment: 'Export /srv/a would be removed',
  });
  expect(await host.state('nfs_export.absent', '/srv/a', { exports: file })).toMatchObject({
    result: true,
    changes: { '/srv/a': clients },
    comment: 'Export /srv/a removed',
  });
  expect(await host.state('nfs_export.absent', '/srv/a', { exports: file })).toMatchObject({
    result: true,
    changes: nothing,
    comment: 'Export /srv/a already absent',
  });
  expect(programs.log()).toEqual(['exportfs -r', 'exportfs -r']);
  programs.program('exportfs', 'echo "exportfs: no such host" >&2');
  expect(
    await host.state('nfs_export.present', '/srv/n', { hosts: 'x', exports: file }),
  ).toMatchObject({
    result: false,
    comment: 'exportfs: no such host',
  });
});

test.skipIf(which('exportfs') === undefined || !canRunApart())(
  'the real exportfs understands what is written',
  { timeout: 240_000 },
  async () => {
    const told = await runApart(
      { nfs3: 'src/modules/nfs/exec/nfs3.ts', state: 'src/modules/nfs/states/nfs_export.ts' },
      `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
      mkdirSync('/opt/a b', { recursive: true });
      writeFileSync('/etc/exports', '# none\\n');
      await step('one', () => state.present('/opt/a b', { hosts: '127.0.0.1', options: ['ro', 'no_subtree_check', 'fsid=1'] }));
      told.etab = readFileSync('/var/lib/nfs/etab', 'utf8');
      await step('odd', () => state.present('/opt/a b', { hosts: '127.0.0.1', options: ['odd'] }));`,
      ['/opt', '/var/lib/nfs'],
    );
    expect(told.etab).toMatch(/^\/opt\/a\\040b\t127\.0\.0\.1\(ro,.*fsid=1/);
    expect(told).toMatchObject({
      one: { changes: { old: null } },
      odd: { result: false, comment: expect.stringContaining('odd') },
    });
  },
);
