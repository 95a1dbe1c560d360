import type { Ranges } from '../data/taint.ts';

/**
 * The representation graph between events and data: tags are resolved, and an alias is the same
 * object as its node. Merge keys and duplicate keys are processed on it, as in PyYAML.
 */
export type YamlNode = ScalarNode | SequenceNode | MappingNode;

type Common = {
  tag: string;
  /** Offset in the source. */
  readonly at: number;
  /** Number of nodes below and including this one, with every alias expanded. */
  weight: number;
};

export type ScalarNode = Common & {
  readonly kind: 'scalar';
  readonly value: string;
  /** Written without quotes and not as a block scalar. */
  readonly plain: boolean;
  /** The host-supplied parts of the value. */
  readonly taint?: Ranges | undefined;
};

export type SequenceNode = Common & {
  readonly kind: 'sequence';
  readonly items: YamlNode[];
  /** Has an anchor, so that aliases may refer to it. */
  readonly anchored: boolean;
};

export type YamlPair = readonly [key: YamlNode, value: YamlNode];

export type MappingNode = Common & {
  readonly kind: 'mapping';
  pairs: YamlPair[];
  readonly anchored: boolean;
  /** Merge keys are already expanded. */
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
