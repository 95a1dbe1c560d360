import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const must = (program: string, args: readonly string[], cwd: string): void => {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error ?? stdout + stderr}`);
};

type Made = { readonly name: string; readonly version: string; readonly more?: readonly string[] };

const spec = `Name: %{n}
Version: %{v}
Release: 1
Epoch: %{e}
Summary: For tests
License: none
BuildArch: noarch
AutoReqProv: no
%{?needs:Requires: %{needs}}
%description
For tests.
%install
mkdir -p %{buildroot}/opt/tsalt/%{n}
echo %{v} >%{buildroot}/opt/tsalt/%{n}/version
echo setting >%{buildroot}/opt/tsalt/%{n}/conf
%files
/opt/tsalt/%{n}
%config(noreplace) /opt/tsalt/%{n}/conf
`;

const group = (kind: string, name: string): string =>
  `<packagereq type="${kind}">${name}</packagereq>`;

const advisory = (version: string, at: number): string => `<update from="tsalt" status="stable"
 type="security" version="1"><id>TSALT-2024-${at + 1}</id><title>A hole in alpha</title>
<issued date="2024-01-0${at + 1} 00:00:00"/><severity>Important</severity><description>None</description>
<pkglist><collection short="t"><name>t</name><package name="alpha" version="${version}" release="1"
 epoch="0" arch="noarch" src="alpha.src.rpm"><filename>alpha-${version}-1.noarch.rpm</filename></package>
</collection></pkglist></update>`;

/**
 * A repository of rpm packages: alpha 1.0, 1.10 and 2.0, beta that needs alpha, gamma with an
 * epoch, the group `Test Tools` of them, and the advisories TSALT-2024-1 and -2 for alpha 1.10 and 2.0.
 */
export const makeRpmRepo = (folder: string): string => {
  const repo = join(folder, 'repo');
  mkdirSync(repo, { recursive: true });
  writeFileSync(join(folder, 'spec'), spec);
  const packages: readonly Made[] = [
    { name: 'alpha', version: '1.0' },
    { name: 'alpha', version: '1.10' },
    { name: 'alpha', version: '2.0' },
    { name: 'beta', version: '1', more: ['--define', 'needs alpha'] },
    { name: 'gamma', version: '3', more: ['--define', 'e 2'] },
  ];
  for (const { name, version, more = [] } of packages) {
    const defines = [
      `_topdir ${folder}/top`,
      `_rpmdir ${repo}`,
      `n ${name}`,
      `v ${version}`,
      'e 0',
    ];
    const words = defines.flatMap(define => ['--define', define]);
    must('rpmbuild', ['-bb', '--quiet', ...words, ...more, 'spec'], folder);
  }
  writeFileSync(
    join(folder, 'comps.xml'),
    `<?xml version="1.0"?><comps><group><id>tools</id><name>Test Tools</name><description/>
<uservisible>true</uservisible><default>false</default><packagelist>${group('mandatory', 'alpha')}
${group('default', 'beta')}${group('optional', 'gamma')}</packagelist></group></comps>`,
  );
  must('createrepo_c', ['--quiet', `--groupfile=${join(folder, 'comps.xml')}`, repo], folder);
  writeFileSync(
    join(folder, 'updateinfo.xml'),
    `<updates>${['1.10', '2.0'].map(advisory).join('')}</updates>`,
  );
  must('modifyrepo_c', ['updateinfo.xml', join(repo, 'repodata')], folder);
  return repo;
};

/**
 * A pacman repository: alpha 2.0, beta that depends on it, gamma with an epoch; alpha 1.0 as a
 * file.
 */
export const makePacmanRepo = (folder: string): string => {
  const repo = join(folder, 'repo');
  mkdirSync(repo, { recursive: true });
  const make = (name: string, version: string, more: string): string => {
    const root = join(folder, `${name}-${version}`);
    mkdirSync(join(root, 'opt/tsalt', name), { recursive: true });
    writeFileSync(join(root, 'opt/tsalt', name, 'version'), `${version}\n`);
    writeFileSync(
      join(root, '.PKGINFO'),
      `pkgname = ${name}\npkgver = ${version}-1\npkgdesc = For tests\narch = any\nsize = 1\n${more}`,
    );
    const file = join(repo, `${name}-${version.replace(':', '.')}-1-any.pkg.tar.gz`);
    must('tar', ['-C', root, '--owner=0', '--group=0', '-czf', file, '.PKGINFO', 'opt'], folder);
    return file;
  };
  const inside = [
    make('alpha', '2.0', 'group = tools\n'),
    make('beta', '1', 'depend = alpha\ngroup = tools\n'),
    make('gamma', '2:3', ''),
  ];
  must('repo-add', ['--quiet', join(repo, 'test.db.tar.gz'), ...inside], folder);
  make('alpha', '1.0', 'group = tools\n');
  return repo;
};
