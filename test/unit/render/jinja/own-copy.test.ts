import { describe, expect, test } from 'vitest';
import { type Dict, toDict, toPlainDict } from '../../../../src/data/values/value.ts';
import { WatchedDict } from '../../../../src/data/values/watched-dict.ts';
import { copyOfConstant, copyOnRead } from '../../../../src/render/jinja/run/copy-on-read.ts';

const before = { os: 'Debian', pid: 1, dns: { nameservers: ['10.0.0.1'] } };
const truth = (change: object): Dict => toDict({ ...before, ...change });

describe.each([
  ['a copy', copyOnRead],
  ['a copy of constant data', copyOfConstant],
])('%s', (_, copyOf) => {
  const watched = () => {
    const original = new WatchedDict(toDict(before));
    return { original, copy: copyOf(original) as unknown as Dict };
  };

  test('a copy of watched data reads no more of it than is read of the copy', () => {
    const { original, copy } = watched();
    copy.get('os');

    expect(original.settle(truth({ pid: 2 }))).toBe(true);
  });

  test('a read of the copy is a read of the original', () => {
    for (const read of [
      (copy: Dict) => copy.get('pid'),
      (copy: Dict) => copy.has('pid'),
      (copy: Dict) => copy.delete('pid'),
      (copy: Dict) => [...copy],
      (copy: Dict) => [...copy.keys()],
      (copy: Dict) => [...copy.values()],
      (copy: Dict) => copy.size,
      (copy: Dict) => copy.forEach(() => undefined),
      (copy: Dict) => copy.clear(),
    ]) {
      const { original, copy } = watched();
      read(copy);

      expect(original.settle(truth({ pid: 2 })), String(read)).toBe(false);
    }
  });

  test("values that were not read yet are the confirmed ones; the template's own values stay", () => {
    const { original, copy } = watched();
    copy.set('os', 'mine');
    (copy.get('dns') as Dict).set('domain', 'example.com');

    expect(original.settle(truth({ pid: 2, roles: ['web'] }))).toBe(true);

    expect(toPlainDict(copy)).toEqual({
      os: 'mine',
      pid: 2,
      dns: { nameservers: ['10.0.0.1'], domain: 'example.com' },
      roles: ['web'],
    });
    expect(copy.get('roles')).not.toBe(original.get('roles'));
    expect((original.get('dns') as Dict).has('domain')).toBe(false);
    expect(copy.delete('pid')).toBe(true);
    expect(copy.has('pid')).toBe(false);
  });

  test('keys keep the order of the original, whatever is read first', () => {
    const { copy } = watched();
    (copy.get('dns') as Dict).set('domain', 'example.com');
    copy.get('none');
    copy.set('roles', 'web');

    expect([...copy.keys()]).toEqual(['os', 'pid', 'dns', 'roles']);
    expect(toPlainDict(copy.get('dns') as Dict)).toEqual({
      nameservers: ['10.0.0.1'],
      domain: 'example.com',
    });
    expect(copy.get('dns')).toBe(copy.get('dns'));
    expect(copy.has('none')).toBe(false);
  });

  test('a dict that nobody watches is copied alike', () => {
    const original = toDict(before);
    const copy = copyOf(original) as unknown as Dict;
    expect(copy.get('os')).toBe('Debian');
    expect(copy.has('none')).toBe(false);
    const dns = copy.get('dns') as Dict;
    dns.set('domain', 'example.com');
    expect(copy.delete('pid')).toBe(true);
    expect([...copy]).toEqual([
      ['os', 'Debian'],
      ['dns', dns],
    ]);
    expect(toPlainDict(original)).toEqual(before);
  });
});
