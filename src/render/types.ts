import type { Ranges } from '../data/taint.ts';
import type { Trace } from '../data/values/position.ts';
import type { Data, Dict } from '../data/values/value.ts';
import type { FileRoots } from '../fileserver/file-roots.ts';
import type { YamlCache } from '../yaml/yaml-cache.ts';
import type { IsHostString } from './secrets.ts';
import type { Recorder } from './share/recorder.ts';
import type { Mapping, Origins } from './source-map.ts';
import type { TaintSource } from './taint/taint-table.ts';

/** The data and calls of templates. One per host and run. */
export type RenderContext = {
  readonly grains: Dict;
  readonly pillar: Dict;
  readonly opts: Dict;
  /** Where includes and imports of templates are found. */
  readonly files: FileRoots;
  /** Calls an execution function for this host (`salt['cmd.run']`). */
  readonly call: (fun: string, args: Data[], kwargs: Dict) => Promise<Data>;
  /**
   * Whether a function only reads grains, pillar, options and its arguments, so that calling it
   * again has no effect. Templates that call others are rendered for each host.
   */
  readonly onlyLooks?: (fun: string) => Promise<boolean>;
  /** Whether a function belongs to the control node. A host must not choose one. */
  readonly livesHere?: (fun: string) => Promise<boolean>;
  /** The tainted strings; absent if no host is involved, as for rosters. */
  readonly taint?: TaintSource | undefined;
  /** Whether the host sent this string, in its grains or as a result. */
  readonly said?: IsHostString;
  /** Further variables, which override those of every template (`context:` of file states). */
  readonly extra?: Dict;
  /** Receives the reads of each template; undefined if they are not known. */
  readonly onReads?: ((reads: TextReads | undefined) => void) | undefined;
  /** Other hosts or runs follow: reads and data are kept of the first one already. */
  readonly isOneOfMany?: boolean;
  /** The structures of large YAML texts, from earlier runs. */
  readonly yamlCache?: YamlCache | undefined;
};

/** The recorded reads of one rendering for one host. */
export type TextReads = {
  /** Equal for the same reads with the same values. */
  readonly key: string;
  /** Whether the template would read the same values of another host. */
  readonly isSameFor: (context: RenderContext) => Promise<boolean>;
  readonly roots: RootReads;
};

/** Names the grains and options that a template read, with its calls and files. */
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
  /** Where these files are. */
  readonly imports: readonly { readonly path: string; readonly saltenv: string }[];
};

/** One text to render. */
export type RenderRequest = {
  readonly text: string;
  /** The file on the control node, for errors and relative references. */
  readonly file: string;
  /** Used if the text has no shebang: `liquid|yaml`, `jinja|yaml` … Default `liquid|yaml`. */
  readonly pipe?: string | undefined;
  readonly saltenv: string;
  readonly sls?: string | undefined;
  /** Path inside the roots; needed if neither `sls` nor `file` contains it. */
  readonly tplfile?: string | undefined;
  readonly context: RenderContext;
  /**
   * The user's renderers, by name; they override built-in ones. Default: `_renderers` of the
   * context's files (`customRenderers`).
   */
  readonly renderers?: RendererTable | undefined;
  readonly whitelist?: readonly string[] | undefined;
  readonly blacklist?: readonly string[] | undefined;
  /** Receives the output of the template engines, from which the data is read. */
  readonly onRendered?: ((text: string) => void) | undefined;
  /** Receives the map from positions in the data to the template. */
  readonly onTrace?: ((trace: Trace) => void) | undefined;
  /** Whether the first line may be a shebang. Default true. */
  readonly shebang?: boolean | undefined;
  /**
   * `user-file`: the text is a whole file of the user (file roots, pillar roots, roster), read by
   * the caller. Only such a text may be rendered by a renderer that evaluates code; a composed or
   * host-supplied text may not. Default: refused.
   */
  readonly origin?: 'user-file' | undefined;
};

/** One active stage of a pipe: the request, and the argument after the renderer's name. */
export type Stage = {
  readonly name: string;
  readonly argument: string;
  readonly request: RenderRequest;
  /** Returns another renderer by its name. Throws if it does not exist or is not allowed. */
  readonly renderer: (name: string) => Renderer;
  /** Whether printed values must be escaped by `guard`: another template engine follows. */
  readonly guarded: boolean;
  /**
   * The variables of templates: grains, pillar, opts, saltenv, sls, tplfile … with Salt's names.
   * They depend only on the request, by which texts are shared between hosts (`share/`).
   */
  readonly variables: () => Dict;
  /** The tainted parts of the stage's input text. */
  readonly tainted?: Ranges | undefined;
  /** Receives the tainted parts of a template engine's output. */
  readonly printed: (ranges: Ranges | undefined) => void;
  /** Maps the stage's input text to the template; absent for the template itself. */
  readonly origins?: Origins;
  /** Receives the map from a template engine's output to the template. */
  readonly mapped: (map: Mapping) => void;
  /** Receives the map from positions in data, from a stage that renders and parses text itself. */
  readonly traced: (origins: Origins) => void;
  /** To be notified of every read of grains, pillar, opts and files, if the text may be shared. */
  readonly recorder?: Recorder | undefined;
};

/**
 * A renderer: `text` converts text to text (template engines), `data` text to data (formats),
 * `filter` changes its input and returns the same kind, `any` (a user's) accepts anything and
 * returns data. A pipe is checked by these kinds before it runs.
 */
export type Renderer = {
  readonly kind: 'text' | 'data' | 'filter' | 'any';
  /**
   * `confined`: runs the code in its text inside the sandbox. `program`: the text itself is a
   * program that runs with all of Node. `user`: the renderer is a user's program. All three need
   * `origin: 'user-file'`.
   */
  readonly evaluates?: 'confined' | 'program' | 'user';
  /** Returns the kind, if it depends on the argument. */
  readonly kindWith?: (argument: string) => Renderer['kind'];
  readonly render: (input: Data, stage: Stage) => Data | Promise<Data>;
};

export type RendererTable = ReadonlyMap<string, Renderer>;
