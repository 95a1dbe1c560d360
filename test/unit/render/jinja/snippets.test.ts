import { expect, test } from 'vitest';
import snippets from '../../../render/jinja/snippets.json' with { type: 'json' };
import { site } from '../../../render/site.ts';

/** Small templates and what Python's Jinja2 (with its lenient undefined) makes of them. */
type Snippet = { readonly template: string; readonly output?: string; readonly raises?: string };

test.each(snippets as Snippet[])('$template', async ({ template, output }) => {
  const { text } = site({ opts: { allow_undefined: template === '{{ 5 if false }}' } });
  if (output === undefined) await expect(text(template, 'jinja')).rejects.toThrow(/^Jinja /);
  else expect(await text(template, 'jinja')).toBe(output);
});
