import { expect, test } from 'vitest';
import table from '../../../render/jinja/salt-filters.json' with { type: 'json' };
import { site } from '../../../render/site.ts';

/** By filter: a template and what Salt 3006 on Python 3.11 makes of it; alone where Salt raises. */
const filters = Object.entries(
  table.filters as unknown as Record<string, readonly [string, string?][]>,
);

test.each(filters)('%s answers as in Salt', async (_, cases) => {
  const { text } = site({ pillar: table.pillar });
  const answers: (readonly [string, string?])[] = [];
  for (const [template] of cases)
    answers.push(
      await text(template, 'jinja').then(
        output => [template, output] as const,
        (error: Error) => {
          expect(error.message).toMatch(/^Jinja /);
          return [template] as const;
        },
      ),
    );
  expect(answers).toEqual(cases);
});
