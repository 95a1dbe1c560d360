import type { HostResult } from '../protocol/event.ts';
import type { OutputOptions } from './options.ts';

/** An outputter: results to text without a last newline; empty text prints nothing. */
export type Format = {
  readonly format: (results: readonly HostResult[], options: OutputOptions) => string;
  /** One document for all hosts, with or without `--static`. */
  readonly whole?: boolean;
  /** Characters of one host's result that it can show; the rest is cut. */
  readonly longest?: number;
  /** How to write one document for hosts, part by part, that are too large for one text. */
  readonly joint?: (options: OutputOptions) => Joint | undefined;
  /** Whether it reports the locations of compile errors itself. */
  readonly faults?: boolean;
};

/** A document of several hosts: `open`, a part for each with `between`, and `close`. */
export type Joint = {
  readonly open: string;
  readonly between: string;
  readonly close: string;
  /** Hosts are in order of their ids. */
  readonly isSorted: boolean;
  /** Writes the part of a host; throws before it has written anything. */
  readonly part: (result: HostResult, write: (text: string) => void) => void;
};

type Loader = () => Promise<Format>;

const silent: Loader = async () => ({ format: () => '' });

const formats: Readonly<Record<string, Loader>> = {
  highstate: async () => (await import('./format/highstate.ts')).highstateFormat,
  nested: async () => (await import('./format/nested.ts')).nestedFormat,
  sls: async () => (await import('./format/sls.ts')).slsFormat,
  yaml: async () => (await import('./format/yaml.ts')).yamlFormat,
  json: async () => (await import('./format/json.ts')).jsonFormat,
  txt: async () => (await import('./format/plain.ts')).txtFormat,
  text: async () => (await import('./format/plain.ts')).txtFormat,
  raw: async () => (await import('./format/plain.ts')).rawFormat,
  newline_values_only: async () => (await import('./format/plain.ts')).valuesFormat,
  pprint: async () => (await import('./format/pprint.ts')).pprintFormat,
  no_return: async () => (await import('./format/plain.ts')).noReturnFormat,
  // As with Salt, it shows only the progress, which the terminal shows anyway.
  progress: silent,
  quiet: silent,
  table: async () => (await import('./format/table.ts')).tableFormat,
  profile: async () => (await import('./format/table.ts')).profileFormat,
  junit: async () => (await import('./format/junit.ts')).junitFormat,
  markdown: async () => (await import('./format/markdown.ts')).markdownFormat,
};

/** Names that `--out` takes. */
export const outputNames: readonly string[] = [...Object.keys(formats), 'ndjson'];

/** Whether an outputter shows nothing of results. */
export const isSilent = (name = ''): boolean =>
  Object.hasOwn(formats, name) && formats[name] === silent;

/** Loads one outputter; no other one is loaded. */
export const loadFormat = (name: string): Promise<Format> => {
  const loader = Object.hasOwn(formats, name) ? formats[name] : formats.nested;
  return (loader as Loader)();
};
