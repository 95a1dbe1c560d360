import type { Matches } from '../../compiler/load.ts';
import type { PillarTop } from '../../compiler/pillar-top.ts';
import type { TextReads } from '../../render/types.ts';
import type { Subject } from '../../targeting/match.ts';

/** An SLS before and after the rendering. */
export type CheckedText = {
  readonly place: string;
  readonly written: string;
  readonly rendered: string;
  /** Of each template of its pipe; undefined for one whose reads are not known. */
  readonly reads: readonly (TextReads | undefined)[];
};

/** Collects what the check of one host depended on. */
export class CheckTrace {
  /** Of templates of the pillar. */
  readonly pillarReads: (TextReads | undefined)[] = [];
  readonly states: CheckedText[] = [];
  pillarTop: PillarTop | undefined;
  /** The SLS that the top file assigns to a host; undefined where SLS are named. */
  assigned: ((subject: Subject) => Matches) | undefined;
  /** Something happened that may be different for other hosts. */
  isSingular = false;
}
