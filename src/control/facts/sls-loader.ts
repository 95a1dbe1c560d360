import { existsSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import { pauseIfLong } from '../../data/pause.ts';
import type { SlsLoader } from '../../data/sls.ts';
import { type Trace, withSourceText } from '../../data/values/position.ts';
import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import type { FileRoots } from '../../fileserver/file-roots.ts';
import { shownPath } from '../../fileserver/shown-path.ts';
import { render } from '../../render/render.ts';
import type { RenderContext, RendererTable } from '../../render/types.ts';
import { type Rendered, refuseTaintedChoices } from './tainted-choices.ts';

/** Returns the file of an SLS: `a/b.sls`, or else `a/b/init.sls`. */
export const slsFile = (roots: FileRoots, sls: string, saltenv: string): string | undefined => {
  const base = sls.replaceAll('.', '/');
  return [`${base}.sls`, `${base}/init.sls`].find(candidate => roots.find(candidate, saltenv));
};

/** Loads the SLS files of some roots, rendered for one host. */
export const slsLoader = (
  roots: FileRoots,
  context: (saltenv: string) => RenderContext,
  settings: RenderSettings,
  onText?: (written: string, rendered: string) => void,
  kind: Rendered['kind'] = 'states',
): SlsLoader => ({
  envs: () => roots.envs(),
  folders: saltenv => roots.folders(saltenv).map(path => ({ path, exists: existsSync(path) })),
  list: async saltenv => roots.listStates(saltenv),
  render: async (saltenv, sls, extra) => {
    const found = extra?.path ?? slsFile(roots, sls, saltenv);
    if (found === undefined || !roots.find(found, saltenv)) return undefined;
    const full = roots.find(found, saltenv)?.path ?? found;
    const base = context(saltenv);
    const text = roots.read(found, saltenv);
    const file = shownPath(full);
    let trace: Trace = position => withSourceText({ file, ...position }, text);
    const data: Data = await render({
      ...settings,
      text,
      file,
      tplfile: found,
      sls,
      saltenv,
      origin: 'user-file',
      ...(onText ? { onRendered: (rendered: string) => onText(text, rendered) } : {}),
      onTrace: known => {
        trace = known;
      },
      context: isDict(extra?.defaults)
        ? { ...base, extra: mergeExtra(base.extra, extra.defaults) }
        : base,
    });
    if (base.taint) {
      await pauseIfLong();
      const isTop = extra?.path !== undefined || sls === 'top';
      refuseTaintedChoices({ data, file, text, trace, owner: base.taint.owner, kind, isTop });
    }
    return { sls, saltenv, file, data, trace };
  },
});

const mergeExtra = (below: Dict | undefined, above: Dict): Dict =>
  new Map([...(below ?? []), ...above]);

/** Shared by all renderings of a run: the default pipe and the renderers that are allowed. */
export type RenderSettings = {
  readonly pipe: string;
  readonly whitelist?: readonly string[];
  readonly blacklist?: readonly string[];
  /** The user's renderers; default: those of the roots that are rendered. */
  readonly renderers?: RendererTable;
};

export const renderSettings = ({
  renderer,
  renderer_whitelist,
  renderer_blacklist,
}: Config): RenderSettings => ({
  pipe: renderer,
  ...(renderer_whitelist.length > 0 ? { whitelist: renderer_whitelist } : {}),
  ...(renderer_blacklist.length > 0 ? { blacklist: renderer_blacklist } : {}),
});
