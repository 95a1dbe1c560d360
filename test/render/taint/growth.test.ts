import { expect, test } from 'vitest';
import { growth } from '../../helpers/growth.ts';
import { taintedSite } from './site.ts';

const loops: readonly string[] = [
  '#!jinja|yaml\na: [{% for x in grains.l %}{{ x }}, {% endfor %}]',
  '#!jinja|yaml\na: {{ grains.l | join("x") | replace("x", "yz") }}',
  '#!jinja|yaml\na: {{ (grains.l | join("\\n")) | indent(2) | yaml_dquote }}',
  '#!jinja|yaml\n{% set ns = namespace(s="") %}{% for x in grains.l %}{% set ns.s = ns.s ~ x %}{% endfor %}a: {{ ns.s }}',
  '#!liquid|yaml\na: [{% for x in grains.l %}{{ x }}, {% endfor %}]',
  '#!liquid|yaml\n{% capture x %}{% for x in grains.l %}{{ x }}{% endfor %}{% endcapture %}a: {{ x }}',
];

test.each(loops)('%j: needs time in proportion to what a host sends', async text => {
  const work = (count: number) => {
    const { data } = taintedSite({
      grains: { l: Array.from({ length: count }, (_, index) => `v${index}`) },
    });
    return () => data(text);
  };
  await work(10)();

  expect(await growth(work, 16_000, 150)).toBeUndefined();
});
