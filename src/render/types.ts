import type { Ranges } from '../data/taint.ts';
import type { Trace } from '../data/values/position.ts';
import type { Data, Dict } from '../data/values/value.ts';
import type { FileRoots } from '../fileserver/file-roots.ts';
import type { IsHostText } from './secrets.ts';
import type { Recorder } from './share/recorder.ts';
import type { Mapping, Origins } from './source-map.ts';
import type { TaintSource } from './taint/taint-table.ts';

/** The data and calls of templates. One per host and run. */
export type RenderContext = {
  readonly grains: Dict;
  readonly pillar: Dict;
  readonly opts: Dict;
  /** Where templates find what they include and import. */
  readonly files: FileRoots;
  /** Calls an execution function for this host (`salt['cmd.run']`). */
  readonly call: (fun: string, args: Data[], kwargs: Dict) => Promise<Data>;
  /**
   * Whether a function only looks at grains, pillar, options and its arguments, so that asking
   * it once more changes nothing. Templates that call others are rendered for each host.
   */
  readonly onlyLooks?: (fun: string) => Promise<boolean>;
  /** Does a function live on the control node? A host does not choose one that does. */
  readonly livesHere?: (fun: string) => Promise<boolean>;
  /** Which texts the host chose; absent where no host is involved, as for rosters. */
  readonly taint?: TaintSource | undefined;
  /** Has the host said this text, in its grains or as an answer? */
  readonly said?: IsHostText;
  /** Further variables; they win over the ones every template has (`context:` of file states). */
  readonly extra?: Dict;
  /** Receives what each template read; undefined where that is not known. */
  readonly onReads?: ((reads: TextReads | undefined) => void) | undefined;
  /** Other hosts follow: reads are recorded for the first one already. */
  readonly isOneOfMany?: boolean;
};

/** All that a template read of one host while it was rendered. */
export type TextReads = {
  /** Equal for the same reads with the same values. */
  readonly key: string;
  /** Whether the template would read the same of another host. */
  readonly isSameFor: (context: RenderContext) => Promise<boolean>;
  readonly roots: RootReads;
};

/** What a template read of grains and options, by their first names, and what else it used. */
export type RootReads = {
  readonly grains: ReadonlySet<string>;
  readonly opts: ReadonlySet<string>;
  /** All grains, or all options, were read with their values. */
  readonly isAll: boolean;
  readonly calls: readonly {
    readonly fun: string;
    readonly args: readonly Data[];
    readonly kwargs: Dict;
  }[];
  /** The texts of the files that it imported or included. */
  readonly files: readonly string[];
};

/** One text to render. */
export type RenderRequest = {
  readonly text: string;
  /** The file on the control node, for errors and relative references. */
  readonly file: string;
  /** Used where the text has no shebang: `liquid|yaml`, `jinja|yaml` … Default `liquid|yaml`. */
  readonly pipe?: string | undefined;
  readonly saltenv: string;
  readonly sls?: string | undefined;
  /** Path inside the roots; needed where neither `sls` nor `file` tells it. */
  readonly tplfile?: string | undefined;
  readonly context: RenderContext;
  /**
   * Renderers of the user's, by name; they win over built-in ones. Default: `_renderers` of
   * the context's files (`customRenderers`).
   */
  readonly renderers?: RendererTable | undefined;
  readonly whitelist?: readonly string[] | undefined;
  readonly blacklist?: readonly string[] | undefined;
  /** Receives the text of its data: the output of the template engines. */
  readonly onRendered?: ((text: string) => void) | undefined;
  /** Receives the map from positions in the data to the template. */
  readonly onTrace?: ((trace: Trace) => void) | undefined;
  /** Whether the first line may be a shebang. Default true. */
  readonly shebang?: boolean | undefined;
  /**
   * `user-file`: the text is a whole file of the user's (file roots, pillar roots, roster), read by
   * the caller. Only such a text may be rendered by a renderer that evaluates code; a text that
   * was put together, or that a host sent, may not. Default: refused.
   */
  readonly origin?: 'user-file' | undefined;
};

/** One stage of a pipe at work: the request and what stood behind the renderer's name. */
export type Stage = {
  readonly name: string;
  readonly argument: string;
  readonly request: RenderRequest;
  /** Another renderer by its name. Throws where there is none, or none that is allowed. */
  readonly renderer: (name: string) => Renderer;
  /** Whether a printed value must pass through `guard`: another template engine follows. */
  readonly guarded: boolean;
  /**
   * The variables of templates: grains, pillar, opts, saltenv, sls, tplfile … in Salt's names. They
   * follow from the request alone: by it texts are shared between hosts (`share/`).
   */
  readonly variables: Dict;
  /** The tainted parts of the text that a stage is given. */
  readonly tainted?: Ranges | undefined;
  /** Receives the tainted parts of the text that a template engine made. */
  readonly printed: (ranges: Ranges | undefined) => void;
  /** How the text that a stage is given leads back to the template; absent for the template itself. */
  readonly origins?: Origins;
  /** Receives the positions where the pieces of the text that a template engine made were written. */
  readonly mapped: (map: Mapping) => void;
  /** Receives the map of positions in data, from a stage that renders text and reads it itself. */
  readonly traced: (origins: Origins) => void;
  /** To be told of every look at grains, pillar, opts and files, where the text may be shared. */
  readonly recorder?: Recorder | undefined;
};

/**
 * A renderer: `text` makes text of text (template engines), `data` makes data of text
 * (formats), `filter` changes what it gets and gives the same kind, `any` (a user's) takes
 * anything and gives data. A pipe is checked by these kinds before it runs.
 */
export type Renderer = {
  readonly kind: 'text' | 'data' | 'filter' | 'any';
  /**
   * `confined`: runs the code in its text inside of the sandbox. `program`: the text itself is a
   * program that runs with all of Node. `user`: the renderer is a program of the user's.
   * All three need `origin: 'user-file'`.
   */
  readonly evaluates?: 'confined' | 'program' | 'user';
  /** Where its argument decides what it is. */
  readonly kindWith?: (argument: string) => Renderer['kind'];
  readonly render: (input: Data, stage: Stage) => Data | Promise<Data>;
};

export type RendererTable = ReadonlyMap<string, Renderer>;
