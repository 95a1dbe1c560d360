import type { Ranges } from '../data/taint.ts';

/**
 * The representation graph between events and data: tags are resolved, aliases are the very
 * node they name. Merge keys and duplicate keys are judged on it, as PyYAML does.
 */
export type YamlNode = ScalarNode | SequenceNode | MappingNode;

type Common = {
  tag: string;
  /** Offset in the source. */
  readonly at: number;
  /** Nodes below and including this one when every alias is written out. */
  weight: number;
};

export type ScalarNode = Common & {
  readonly kind: 'scalar';
  readonly value: string;
  /** Written without quotes and on no block indicator. */
  readonly plain: boolean;
  /** Which parts of the value a host chose. */
  readonly taint?: Ranges | undefined;
};

export type SequenceNode = Common & {
  readonly kind: 'sequence';
  readonly items: YamlNode[];
  /** Has a name, so that aliases may mean it. */
  readonly anchored: boolean;
};

export type YamlPair = readonly [key: YamlNode, value: YamlNode];

export type MappingNode = Common & {
  readonly kind: 'mapping';
  pairs: YamlPair[];
  readonly anchored: boolean;
  /** Merge keys are already written out. */
  flat: boolean;
};

export const tagPrefix = 'tag:yaml.org,2002:';

/** The full tags of YAML's types. Literals are compared by identity, texts put together are not. */
export const coreTags = {
  bool: 'tag:yaml.org,2002:bool',
  float: 'tag:yaml.org,2002:float',
  int: 'tag:yaml.org,2002:int',
  map: 'tag:yaml.org,2002:map',
  merge: 'tag:yaml.org,2002:merge',
  null: 'tag:yaml.org,2002:null',
  seq: 'tag:yaml.org,2002:seq',
  str: 'tag:yaml.org,2002:str',
  timestamp: 'tag:yaml.org,2002:timestamp',
  value: 'tag:yaml.org,2002:value',
} as const;

/** Nobody writes this deep by hand; what walks the data later does so by recursion. */
export const maxDepth = 500;
