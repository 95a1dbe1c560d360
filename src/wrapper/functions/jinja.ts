import type { Data } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { WrapperContext } from '../context.ts';
import type { WrapperModule } from '../define.ts';

/** Quotes a path as a Jinja string. */
const quoted = (path: string): string => `"${path.replace(/["\\]/g, '\\$&')}"`;

const loaded = (ctx: WrapperContext, statement: string, name: string): Promise<Data> =>
  ctx.renderAny({
    path: undefined,
    text: `{% ${statement} %}{{ ${name} | tojson }}`,
    pipe: 'jinja|json',
    extra: new Map(),
  });

/** `jinja.*`: loads a formula's map or a data file for this host. */
export const jinja: WrapperModule = {
  doc: "Values as templates see them: of a formula's map.jinja, of YAML and JSON files.",
  functions: {
    load_map: {
      doc: 'A value that a template sets, for this host: `jinja.load_map nginx/map.jinja nginx`.',
      params: ['path', 'value'],
      work: ({ ctx, text }) => {
        const name = text('value');
        if (!/^[A-Za-z_]\w*$/.test(name))
          throw new TsaltError('arguments', `'${name}' is not the name of a variable.`);
        return loaded(ctx, `from ${quoted(text('path'))} import ${name} with context`, name);
      },
    },
    import_yaml: {
      doc: 'A file of YAML in the file roots as `import_yaml` reads it.',
      params: ['path'],
      work: ({ ctx, text }) =>
        loaded(ctx, `import_yaml ${quoted(text('path'))} as imported`, 'imported'),
    },
    import_json: {
      doc: 'A file of JSON in the file roots as `import_json` reads it.',
      params: ['path'],
      work: ({ ctx, text }) =>
        loaded(ctx, `import_json ${quoted(text('path'))} as imported`, 'imported'),
    },
  },
};
