/**
 * The first line of an artifact that a host reads in parts: the bytes and lines of its head, which
 * contains this line and runs at each start. Blocks follow, which are read when something in them is
 * used. Any other artifact is a head as a whole.
 */
const firstLine = /^\/\/(\d{10}) (\d{7})\n/;

/** How much of an artifact is its head. */
export type ArtifactHead = { readonly bytes: number; readonly lines: number };

/** The values that a head gets as `TS`, from the loader (`loader/main.ts`) or for a watchdog. */
export type ArtifactStart = {
  /** The artifact's hash. */
  readonly sha: string;
  /** The workspace. */
  readonly dir: string;
  /** The random part of the workspace's name. */
  readonly suffix?: string;
  readonly wipe?: boolean;
  /** The workspace is removed at the end, if this is set and returns true. */
  isFree?: () => boolean;
  /** See `RuntimeKind` of `loader/config.ts`. */
  readonly kind?: string | undefined;
  /** The folder of a guarded run, if this process is its watchdog. */
  readonly guard?: string;
  /** Bytes of the wire that were read before the artifact ran. */
  pre?: Uint8Array;
  /** The artifact's file, and that of V8's code cache, if they are kept. */
  file?: string | false;
  cacheFile?: string | false;
  /** The artifact: open, since its file may be removed meanwhile, or its bytes if it came now. */
  opened?: number | undefined;
  bytes?: Buffer;
};

/** Returns the head of an artifact, from its text or its first bytes; undefined if it has no blocks. */
export const headOf = (text: string): ArtifactHead | undefined => {
  const [, bytes, lines] = firstLine.exec(text) ?? [];
  return bytes === undefined ? undefined : { bytes: Number(bytes), lines: Number(lines) };
};

/** The length of the first line of an artifact with blocks. */
export const firstLineLength = 21;

/** Returns an artifact of a head, which ends with a line end, and of blocks. */
export const withBlocks = (head: string, blocks: string): string => {
  if (blocks === '') return head;
  const bytes = firstLineLength + Buffer.byteLength(head);
  const lines = head.split('\n').length;
  return `//${digits(bytes, 10)} ${digits(lines, 7)}\n${head}${blocks}`;
};

const digits = (count: number, width: number): string => String(count).padStart(width, '0');
