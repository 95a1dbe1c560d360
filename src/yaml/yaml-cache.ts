import type { Event } from 'js-yaml';
import type { SimilarTexts } from './similar-texts.ts';

/** What is known of texts, by text. */
type Known<Value> = {
  /** Returns what is known of this very text. */
  readonly get: (text: string) => Value | undefined;
  readonly put: (text: string, value: Value) => void;
};

/**
 * The structures of texts, also from earlier runs: places within a text, none of its words. Parsing and
 * composing take a third of the time in which a large SLS is rendered and compiled.
 */
export type YamlCache = {
  /** As `packTree` returns them: of texts in which no host had a part. */
  readonly trees: Known<Int32Array<ArrayBuffer>>;
  /** Of all others, which are compared with what a host could have changed. */
  readonly events: Known<readonly Event[]>;
  /** Texts of this run. */
  readonly similar?: SimilarTexts | undefined;
};

/** Characters of a text from which on reading a file is much faster than parsing. */
export const worthKeeping = 16_000;
