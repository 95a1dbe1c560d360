import { expect, test } from 'vitest';
import { toDict } from '../../../../src/data/values/value.ts';
import { messageOf } from '../../../../src/protocol/error.ts';
import cases from '../../../render/jinja/cases.json' with { type: 'json' };
import { site } from '../../../render/site.ts';

type Case = { readonly template: string; readonly output?: string; readonly fails?: string };

const tree = { tree: [{ n: 1, c: [{ n: 2 }, { n: 3, c: [{ n: 4 }] }] }] };

/**
 * Our templates with the output of Jinja2 3.1 (sandboxed, strict) made of them, and what Salt
 * writes before its errors.
 */
test.each(cases as Case[])('$template', async ({ template, output, fails }) => {
  const { text } = site({ extra: toDict(tree) });
  const rendered = await text(template, 'jinja').catch(messageOf);
  expect(rendered).toBe(output ?? fails);
});
