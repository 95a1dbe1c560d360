import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../helpers/cli.ts';
import { isNode, parseFile, walk } from '../../promises/syntax.ts';

/** Files with predictions whose changes depend on an earlier state of the run, or are not known yet. */
const unknown = [
  'apparmor/states/apparmor.ts',
  'docker/states/docker_container/run.ts',
  'mysql/states/mysql_query.ts',
  'network/states/network.ts',
  'pkg/states/pkg/downloaded.ts',
  'pkg/states/pkg/patch_installed.ts',
  'python_pkg/states/pip_state.ts',
  'rsync/states/rsync.ts',
  'salt/states/salt.ts',
  'selinux/states/selinux/fcontext.ts',
  'selinux/states/selinux/mode.ts',
  'selinux/states/selinux/module.ts',
  'service/service-checks.ts',
  'service/states/service/enabled.ts',
  'user/states/user/present.ts',
  'virt/states/virt.ts',
  'x509/x509-compare.ts',
];

const modules = join(packageRoot, 'src/modules');

const modulePaths = (): string[] =>
  readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => join(modules, name));

/** Lines with calls of `would` that have no changes. */
const withoutChanges = (path: string): number[] => {
  const text = readFileSync(path, 'utf8');
  const lines: number[] = [];
  walk(parseFile(path, text), node => {
    if (node.type !== 'CallExpression' || !isNode(node.callee)) return;
    if (node.callee.name === 'would' && (node.arguments as unknown[]).length < 3)
      lines.push(text.slice(0, Number(node.start)).split('\n').length);
  });
  return lines;
};

test('predictions of states say what will change', () => {
  const found = modulePaths().flatMap(path =>
    withoutChanges(path).map(line => `${path.slice(modules.length + 1)}:${line}`),
  );
  const files = new Set(found.map(place => place.replace(/:\d+$/, '')));
  expect(found.filter(place => !unknown.includes(place.replace(/:\d+$/, '')))).toEqual([]);
  // A file of the list that predicts everything by now leaves it.
  expect(unknown.filter(file => !files.has(file))).toEqual([]);
});
