import { AssertionError } from 'node:assert';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Data, type Dict, isDict, toDict, toPlain } from '../../src/data/values/value.ts';
import { FileRoots } from '../../src/fileserver/file-roots.ts';
import { showError } from '../../src/protocol/error.ts';
import type { Plain, PlainDict } from '../../src/protocol/plain.ts';
import { render, renderText } from '../../src/render/render.ts';
import type { RenderContext, RenderRequest } from '../../src/render/types.ts';

type Given = {
  /** Files of the file roots. */
  readonly files?: Readonly<Record<string, string>>;
  readonly grains?: PlainDict | Dict;
  readonly pillar?: PlainDict;
  readonly opts?: PlainDict;
  readonly extra?: Dict;
  readonly call?: RenderContext['call'];
};

/** A tree of files in a temporary folder and a host's context, to render texts with. */
export const site = (given: Given = {}) => {
  const root = mkdtempSync(join(tmpdir(), 'tsalt-render-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(given.files ?? {})) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const calls: unknown[] = [];
  const context: RenderContext = {
    grains: isDict(given.grains) ? given.grains : toDict(given.grains ?? { os: 'Debian' }),
    pillar: toDict(given.pillar ?? {}),
    opts: toDict(given.opts ?? {}),
    files: new FileRoots({ base: [root] }),
    call:
      given.call ??
      (async (fun, args, kwargs) => {
        calls.push([fun, toPlain(args as Data[]), toPlain(kwargs)]);
        return `${fun}()`;
      }),
    ...(given.extra ? { extra: given.extra } : {}),
  };
  const request = (text: string, more: Partial<RenderRequest> = {}): RenderRequest => ({
    text,
    file: join(root, 'web/init.sls'),
    saltenv: 'base',
    sls: 'web',
    origin: 'user-file',
    context,
    ...more,
  });
  return {
    root,
    calls,
    context,
    /** The data of an SLS `web`. */
    data: async (text: string, more?: Partial<RenderRequest>): Promise<Plain> =>
      toPlain(await render(request(text, more))),
    raw: (text: string, more?: Partial<RenderRequest>): Promise<Data> =>
      render(request(text, more)),
    /** The text that one template engine makes. */
    text: (text: string, pipe = 'liquid', more?: Partial<RenderRequest>): Promise<string> =>
      renderText(request(text, { pipe, ...more })),
    /** The whole error text, with the file's folder left out. */
    failure: async (text: string, more?: Partial<RenderRequest>): Promise<string> => {
      try {
        await render(request(text, more));
      } catch (error) {
        return showError(error).replaceAll(`${root}/`, '');
      }
      throw new AssertionError({ message: 'it rendered' });
    },
  };
};
