import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
beforeAll(async () => {
  project = await startProject({
    files: {
      'states/slip.sls': [
        'first:',
        '  file.managed:',
        '    - name: {{ grains.root }}/first',
        '    - contents: first',
        'second:',
        '  file.managed:',
        '    - name: {{ grains.root }}/second',
        '    - content: hi',
        '    - requires:',
        '      - file: first',
        'third:',
        '  file.directory:',
        '    - name: {{ grains.root }}/third',
        '    - makedirs: maybe',
        '',
      ].join('\n'),
      'states/lax.sls': [
        'lax:',
        '  file.managed:',
        '    - name: {{ grains.root }}/lax',
        '    - content: hi',
        '    - lax: true',
        '',
      ].join('\n'),
      'states/_modules/shop.ts':
        'export const sell = (what: string, { price = 1 }: { price?: number } = {}) => [what, price];\n' +
        'export const any = (what: string, kwargs) => kwargs;\n',
      'states/odd.sls': [
        'odd:',
        '  file.managed:',
        '    - name: {{ grains.root }}/odd',
        '    - contents: odd',
        '    - colour: blue',
        '',
      ].join('\n'),
    },
  });
});
afterAll(() => project.close());

const files = async (): Promise<string> => {
  const { stdout } = await project.run('web1', 'cmd.run', `ls ${project.hosts.web1?.root}`);
  return stdout;
};

test('state.apply: refuses near misses and wrong types with their places, and runs nothing', {
  tags: 'slow',
}, async () => {
  const { code, stdout } = await project.run('web1', 'state.apply', 'slip');

  expect(code).toBe(65);
  expect(stdout).toMatch(
    /'content' is not an argument of 'file.managed' \(did you mean 'contents'\?\), in SLS 'slip', ID 'second' \(.*slip\.sls:8:7\)/,
  );
  expect(stdout).toMatch(/'requires' .*\(did you mean 'require'\?.*slip\.sls:9:7\)/);
  expect(stdout).toMatch(
    /'makedirs' must be true or false, not "maybe", in SLS 'slip', ID 'third' \(.*slip\.sls:14:7\)/,
  );
  expect(stdout).toContain('`- lax: true` on a state accepts');
  expect(await files()).not.toContain('first');
});

test('lax: true runs a state in spite of a near miss, with a warning', async () => {
  const { code, stderr } = await project.run('web1', 'state.apply', 'lax');
  expect(code).toBe(0);
  expect(stderr).toContain("did you mean 'contents'?");
  expect(await files()).toContain('lax');
});

test('--strict and strict: true refuse an argument that resembles nothing', {
  tags: 'slow',
}, async () => {
  const usual = await project.run('web1', 'state.apply', 'odd', 'test=True');
  expect(usual.code).toBe(0);
  expect(usual.stderr).toContain("'colour' is not an argument of 'file.managed' and is ignored");
  const strict = await project.run('--strict', 'web1', 'state.apply', 'odd');
  expect(strict.code).toBe(65);
  expect(strict.stdout).toContain("'colour' is not an argument of 'file.managed', in SLS 'odd'");
  project.write({
    'tsalt.yaml': 'known_hosts_file: known_hosts\ncachedir: cache\nstrict: true\n',
  });
  expect((await project.run('web1', 'state.apply', 'odd')).code).toBe(65);
});

test.each([
  [['state.apply', 'lax', 'tets=True'], "'tets' .*'state.apply' \\(did you mean 'test'\\?\\)"],
  [['state.apply', 'lax', 'tst=1'], "did you mean 'test'"],
  [['state.apply', 'lax', 'dry_run=True'], "did you mean 'test'"],
  [['state.apply', 'lax', 'piller={a: 1}'], "did you mean 'pillar'"],
  [['state.sls', 'lax', 'env=dev'], "did you mean 'saltenv'"],
  [['state.highstate', 'mock=True'], 'test=True shows what would change'],
  [['state.single', 'file.touch', 'name=/x', 'tets=True'], "did you mean 'test'"],
  [['pillar.items', 'piller={a: 1}'], "did you mean 'pillar'"],
  [['test.echo', 'a', 'txt=1'], "'txt' is an invalid keyword argument for 'test.echo'"],
  [['service.start', 'x', 'no_blok=1'], "did you mean 'no_block'"],
  [['shop.sell', 'x', 'pice=3'], "'pice' .*'shop.sell' \\(did you mean 'price'\\?\\)"],
])('%s is refused before any connection', { tags: 'slow' }, async (words, message) => {
  const before = project.hosts.web1?.server.counts.connections ?? -1;
  const { code, stderr, stdout } = await project.run('web1', ...words);
  expect(stderr).toMatch(new RegExp(message));
  expect(code).toBe(64);
  expect(stdout).toBe('');
  expect(project.hosts.web1?.server.counts.connections ?? -1).toBe(before);
});

test("Salt's own keywords of state functions and open functions are accepted", async () => {
  const { code, stderr } = await project.run(
    ...['web1', 'state.apply', 'lax', 'Test=True', 'pillar={a: 1}', 'queue=True', 'saltenv=base'],
    ...['concurrent=True', 'exclude=nothing', 'terse=True', '__pub_jid=1'],
  );
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('invalid')]);
  const open = await project.run('web1', 'shop.any', 'x', 'colour=red', '--out=json');
  expect(open.json()).toEqual({ web1: { colour: 'red' } });
});
