import { expect, test } from 'vitest';
import { builtinMetadata } from '../../../src/bundle/metadata.ts';
import { checkFunctions } from '../../../src/control/prepare/check-functions.ts';
import type { LowChunk } from '../../../src/protocol/low.ts';
import type { ModuleMeta } from '../../../src/protocol/meta.ts';
import type { PlainDict } from '../../../src/protocol/plain.ts';

const modules = builtinMetadata();

const chunk = (state: string, args: PlainDict): LowChunk => {
  const own = { state, fun: 'run', name: 'go', order: 1 };
  return { ...own, ...args, __id__: 'go', __sls__: 's', __env__: 'base' };
};

const check = (state: string, args: PlainDict, more: readonly ModuleMeta[] = []) => {
  checkFunctions([chunk(state, args)], [...modules, ...more]);
};

test.each([
  ['module', { 'state.sls': [{ mods: 'web' }] }, 'state.sls'],
  ['module', { 'test.echo': ['a'], 'state.apply:again': ['web'] }, 'state.apply'],
  ['module', { name: 'state.single', fun_: 'test.nop' }, 'state.single'],
  ['module', { name: 'sdb.get', uri: 'sdb://a/b' }, 'sdb.get'],
  ['cmd', { onlyif: [{ fun: 'state.sls_exists', args: ['web'] }] }, 'state.sls_exists'],
  ['cmd', { unless: { fun: 'state.test' } }, 'state.test'],
])('%s with %j is refused by the name of its function', (state, args, fun) => {
  expect(() => check(state, args)).toThrow(
    `'${fun}' lives on the control node and cannot be called by a state, in SLS 's', ID 'go'`,
  );
});

test.each([
  ['module', { 'test.echo': ['a'], 'pillar.get': ['k'], 'cp.get_file': ['salt://a', '/b'] }],
  ['module', { name: 'grains.get', key: 'os' }],
  ['module', { name: 'no.such' }],
  ['cmd', { name: 'state.sls', onlyif: ['true', { fun: 'match.glob', args: ['*'] }] }],
])('%s with %j is left alone', (state, args) => {
  expect(() => check(state, args)).not.toThrow();
});

test('a module of the user may take the place of what the control node has', () => {
  const own: ModuleMeta = {
    kind: 'exec',
    file: 'state',
    path: '_modules/state.ts',
    builtin: false,
    doc: '',
    functions: [
      { name: 'sls', exportName: 'sls', line: 1, doc: '', signature: { positional: [] } },
    ],
  };
  expect(() => check('module', { 'state.sls': [] }, [own])).not.toThrow();
});
