import { expect, test } from 'vitest';
import { KeptTexts } from '../../../src/control/serve/kept-texts.ts';
import { renderRequest } from '../../../src/protocol/prefetch.ts';

/** Texts of templates that name their state, their variables and how often they were rendered. */
const start = (size = 0) => {
  const rendered: string[] = [];
  const seen = { grains: {}, pillar: {} };
  const texts = new KeptTexts(
    async ({ chunk, context }, template) => {
      const name = String(chunk.name);
      rendered.push(name);
      return `${template} ${name} ${JSON.stringify(context)} ${rendered.length}`.padEnd(size);
    },
    () => ({ ...seen }),
  );
  return { texts, rendered, seen };
};

const request = (name: string, number = 1, mode = '0644') =>
  renderRequest(
    { name, source: 'salt://one.j2', template: 'jinja', context: { number }, mode },
    'base',
  );

test('a text that was rendered ahead is taken once', async () => {
  const { texts, rendered } = start();
  const first = await texts.keep(request('/a'), 'one', 'one.j2');
  expect(texts.take(request('/a'), 'one')).toBe(first);
  expect(texts.take(request('/a'), 'one')).toBe(undefined);
  expect(rendered).toEqual(['/a']);
});

type Change = {
  readonly asked?: ReturnType<typeof request>;
  readonly template?: string;
  readonly grains?: object;
  readonly pillar?: object;
};

test.each<[string, Change]>([
  ['the variables of the template', { asked: request('/a', 2) }],
  ['an argument of its state', { asked: request('/a', 1, '0600') }],
  ['the template', { template: 'two' }],
  ['the grains', { grains: {} }],
  ['the pillar', { pillar: {} }],
])(
  'a text is not taken where %s changed meanwhile',
  async (_what, { asked = request('/a'), template = 'one', ...facts }) => {
    const { texts, seen } = start();
    await texts.keep(request('/a'), 'one', 'one.j2');
    Object.assign(seen, facts);
    expect(texts.take(asked, template)).toBe(undefined);
  },
);

test('one host has a megabyte kept, all hosts together have 32 of them', async () => {
  const half = 511 * 1024;
  const keepThree = async (): Promise<KeptTexts> => {
    const { texts } = start(half);
    for (const name of ['/a', '/b', '/c']) await texts.keep(request(name), '', '');
    return texts;
  };
  const isKept = (texts: KeptTexts, name: string): boolean =>
    texts.take(request(name), '') !== undefined;
  const one = await keepThree();
  expect(['/a', '/b', '/c'].map(name => isKept(one, name))).toEqual([true, true, false]);

  const hosts: KeptTexts[] = [];
  for (let each = 0; each < 33; each += 1) hosts.push(await keepThree());
  expect(hosts.filter(texts => isKept(texts, '/a'))).toHaveLength(32);
  for (const texts of hosts) texts.close();
  expect(isKept(await keepThree(), '/a')).toBe(true);
});

test('many small texts count what they take beside their characters', async () => {
  const { texts } = start();
  const names = Array.from({ length: 3000 }, (_, at) => `/${at}`);
  for (const name of names) await texts.keep(request(name), '', '');
  const kept = names.filter(name => texts.take(request(name), '') !== undefined);
  expect(kept.length).toBeGreaterThan(1500);
  expect(kept.length).toBeLessThan(2100);
});

test('what is still rendered when the run ends is not kept', async () => {
  const { texts } = start();
  const late = texts.keep(request('/a'), 'one', 'one.j2');
  texts.close();
  await late;
  expect(texts.take(request('/a'), 'one')).toBe(undefined);
});
