import { expect, test } from 'vitest';
import { builtinMetadata } from '../../../src/bundle/metadata.ts';
import { checkCall } from '../../../src/control/prepare/check-call.ts';
import { moduleName } from '../../../src/data/signatures/module-docs.ts';
import { whyUnsupported } from '../../../src/data/unsupported.ts';

const modules = builtinMetadata();
const namesOf = (kind: 'exec' | 'state'): string[] =>
  modules.filter(one => one.kind === kind).map(moduleName);
const functions = modules.flatMap(module =>
  module.functions.map(({ name }) => `${moduleName(module)}.${name}`),
);

const refused = {
  exec: 'beacons cloud data key minion out publish ret saltcloud schedule'.split(' '),
  state: 'beacon cloud salt_proxy schedule'.split(' '),
} as const;

test.each(['exec', 'state'] as const)('modules of Salt (%s) that cannot be here say why', kind => {
  for (const module of refused[kind]) {
    const why = whyUnsupported(kind, `${module}.any`) ?? '';
    expect(why, module).toMatch(/^[a-z].*[^.]$/);
    const advised = (why.match(/\b[a-z]\w*\.[a-z]\w*\b/g) ?? []).filter(
      name => !functions.includes(name),
    );
    expect(advised, module).toEqual([]);
  }
});

test.each(['exec', 'state'] as const)('no module that is here (%s) is said not to be', kind => {
  expect(namesOf(kind).filter(name => whyUnsupported(kind, `${name}.any`))).toEqual([]);
});

test('an unknown name, and one that every object has, have no reason', () => {
  for (const name of ['nosuch.run', 'constructor.x', 'toString.x', 'schedule', ''])
    expect(whyUnsupported('exec', name), name).toBeUndefined();
});

test('a call of such a function is refused with the reason, before any connection', () => {
  expect(() => checkCall('schedule.list', [], new Map(), modules)).toThrow(
    /^'schedule\.list' is not available: a schedule needs a minion that keeps running; /,
  );
  expect(() => checkCall('nosuch.list', [], new Map(), modules)).toThrow(
    "'nosuch.list' is not available.",
  );
});
