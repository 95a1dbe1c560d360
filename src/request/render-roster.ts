import type { Config } from '../config/config.ts';
import { type Trace, tracePositions } from '../data/values/position.ts';
import type { Data } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import type { RenderRoster } from '../roster/load.ts';

/** Renders a roster through the pipe of the configuration; loads renderers only for templates. */
export const renderRoster =
  (config: Config): RenderRoster =>
  async (text, file): Promise<Data> => {
    const { render } = await import('../render/render.ts');
    const { FileRoots } = await import('../fileserver/file-roots.ts');
    let trace: Trace | undefined;
    const data = await render({
      onTrace: known => {
        trace = known;
      },
      text,
      file,
      pipe: config.renderer,
      whitelist: config.renderer_whitelist,
      blacklist: config.renderer_blacklist,
      saltenv: config.saltenv ?? 'base',
      origin: 'user-file',
      context: {
        grains: new Map(),
        pillar: new Map(),
        opts: config.options,
        files: new FileRoots(config.file_roots, config),
        call: fun => {
          throw new TsaltError(
            'roster-call',
            `A roster cannot call '${fun}': there is no host yet.`,
            {
              kind: 'render',
              at: { file },
            },
          );
        },
      },
    });
    // Errors of entries name the lines of the template.
    if (trace) tracePositions(data, file, trace);
    return data;
  };

/** Renderers that only combine text: they run no program. */
export const textRenderers = ['jinja', 'liquid', 'yaml', 'yamlex', 'json', 'json5', 'toml'];
