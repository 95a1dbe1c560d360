import type { FileResponse } from '../../../protocol/job.ts';
import { largestOfMany, mostOfMany, type NamedFile } from '../../../protocol/many-files.ts';
import { contentOf, type FileContent } from '../files/file-content.ts';
import { hashFile } from '../files/file-hash.ts';
import { statOf } from '../files/file-paths.ts';

/** An answer of the control node to a request for a file, or for the result of a template. */
export type Fetched = { readonly answer: FileResponse; readonly content?: FileContent };

/** A file that a state will probably ask for. */
export type ComingFile = {
  readonly key: string;
  /** The file it will be written to: its content is not fetched when it is there already. */
  readonly dest?: string | undefined;
  /** Undefined where only rendering finds it out. */
  readonly sha256?: string | undefined;
  readonly size: number;
  /** Undefined where it has to wait for its turn. */
  readonly fetch: (have?: string) => Promise<Fetched | undefined>;
  /** Its name in a request for several files; undefined if it cannot be one of them. */
  readonly named?: NamedFile | undefined;
};

/**
 * Requests several files and reports each of them when it has arrived, in their order; undefined for
 * one that needs a request of its own. Resolves after the last one.
 */
export type FetchMany = (
  items: readonly NamedFile[],
  take: (at: number, bytes: Buffer | undefined) => void,
) => Promise<unknown>;

/** Stays below the control node's limit of open requests (`host-limits.ts`). */
const mostRequests = 160;
/** Content that is on its way, or has arrived and is not used yet. */
const mostBytes = 8 * 1024 * 1024;
/** Bytes that each file counts at least: keeping one takes more memory than its content. */
const leastBytes = 512;
/** Bytes of the files of one request: the first ones are written while others arrive. */
export const mostInRequest = 256 * 1024;
/** Larger files are not fetched ahead: they are written to the disk while they arrive. */
const largest = 1024 * 1024;

type List = {
  readonly files: ComingFile[];
  /** Several states may have one source. */
  readonly places: Map<string, number[]>;
  readonly started: Map<number, Started>;
  /** The first place that is not used up. */
  used: number;
  /** The first place that is not requested. */
  next: number;
};

/** A file of a request for several: `arrived` is called with what came, if anything did. */
type Waiting = {
  readonly named: NamedFile;
  readonly sha256: string | undefined;
  readonly fetch: () => Promise<Fetched | undefined>;
  readonly arrived: (fetched: Fetched | undefined) => void;
};

type Started = {
  readonly fetched: Promise<Fetched | undefined>;
  /** The same, once it is there: it need not be waited for. */
  readonly now?: () => Fetched | undefined;
  readonly release: () => void;
};

/**
 * Requests files before their states run. Files are announced in the order of their use; the first
 * one that is needed starts the requests for those after it, so a run over a slow link does not wait
 * for a round trip with each file, and a run without changes asks for none.
 */
export class FetchAhead {
  /** Files of the run itself: more may be announced while it runs. */
  readonly #ofRun = newList();
  #lists: List[] = [this.#ofRun];
  /** Files of the run that are listed only when one is needed. */
  readonly #unread: (() => readonly ComingFile[])[] = [];
  /** Files of the run are being requested. */
  #isBegun = false;
  readonly #fetchMany: FetchMany | undefined;
  /** Files of the next request for several. */
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #requests = 0;
  #bytes = 0;

  /** @param fetchMany without it, each file is requested on its own */
  constructor(fetchMany?: FetchMany) {
    this.#fetchMany = fetchMany;
  }

  /** @returns ends the list: drops the content that was not used */
  announce(files: readonly ComingFile[]): () => void {
    const list = newList();
    append(list, files);
    this.#lists.push(list);
    return () => {
      this.#lists = this.#lists.filter(each => each !== list);
      this.#skip(list, files.length);
    };
  }

  /**
   * Announces files of the run, which are listed only when one is needed: a run without changes
   * needs none. Later ones follow those that were announced before.
   */
  announceLater(files: () => readonly ComingFile[]): void {
    this.#unread.push(files);
    if (this.#isBegun) this.begin();
  }

  #read(): void {
    for (const files of this.#unread.splice(0)) append(this.#ofRun, files());
  }

  /** Requests the first files, before one of them is needed. */
  begin(): void {
    this.#isBegun = true;
    this.#read();
    for (const list of this.#lists) this.#fill(list);
  }

  /**
   * The answer for a file that is needed now: one that came ahead, or that of `fetch`.
   *
   * @returns at once what has arrived
   */
  take(key: string, fetch: () => Promise<Fetched>): Fetched | Promise<Fetched> {
    this.#read();
    const list = this.#lists.findLast(({ places }) => places.has(key));
    const at = list?.places.get(key)?.find(place => place >= list.used);
    if (!list || at === undefined) return fetch();
    this.#isBegun ||= list === this.#ofRun;
    this.#skip(list, at);
    const started = list.started.get(at);
    list.started.delete(at);
    started?.release();
    const answer = started?.now?.() ?? started?.fetched ?? fetch();
    list.used = at + 1;
    list.next = Math.max(list.next, at + 1);
    this.#fill(list);
    return answer instanceof Promise ? answer.then(fetched => fetched ?? fetch()) : answer;
  }

  /** Files before this place were not needed. */
  #skip(list: List, end: number): void {
    for (let at = list.used; at < end; at += 1) {
      const started = list.started.get(at);
      list.started.delete(at);
      started?.release();
      started?.fetched.then(
        fetched => fetched?.content?.discard(),
        () => undefined,
      );
    }
    list.used = Math.max(list.used, end);
    list.next = Math.max(list.next, end);
  }

  #fill(list: List): void {
    while (
      list.next < list.files.length &&
      this.#requests < mostRequests &&
      this.#bytes < mostBytes
    ) {
      const file = list.files[list.next];
      if (file && file.size <= largest) list.started.set(list.next, this.#start(file, list));
      list.next += 1;
    }
    this.#sendWaiting(list);
  }

  #start(file: ComingFile, list: List): Started {
    const have = presentHash(file);
    if (have !== undefined && have === file.sha256)
      return { fetched: Promise.resolve(undefined), release: () => undefined };
    const cost = Math.max(file.size, leastBytes);
    this.#bytes += cost;
    const release = (): void => {
      this.#bytes -= cost;
    };
    // A template's result may be the text that is there, which is not sent then.
    const isSingle = file.sha256 === undefined && have !== undefined;
    if (this.#fetchMany && file.named && file.size <= largestOfMany && !isSingle)
      return { ...this.#wait(file, file.named, have, list), release };
    const fetched = file.fetch(have);
    this.#count(fetched, list);
    return { fetched, release };
  }

  /** Counts a request until it is answered. */
  #count(request: Promise<unknown>, list: List): void {
    this.#requests += 1;
    const settle = (): void => {
      this.#requests -= 1;
      this.#fill(list);
    };
    request.then(settle, settle);
  }

  #wait(
    { sha256, size, fetch }: ComingFile,
    named: NamedFile,
    have: string | undefined,
    list: List,
  ): Pick<Started, 'fetched' | 'now'> {
    let here: Fetched | undefined;
    const fetched = new Promise<Fetched | undefined>(resolve => {
      const arrived = (found: Fetched | undefined): void => {
        here ??= found;
        resolve(found);
      };
      this.#waiting.push({ named, sha256, fetch: () => fetch(have), arrived });
      this.#waitingBytes += size;
      if (this.#waiting.length === mostOfMany || this.#waitingBytes >= mostInRequest)
        this.#sendWaiting(list);
    });
    return { fetched, now: () => here };
  }

  #sendWaiting(list: List): void {
    const files = this.#waiting;
    const [first] = files;
    if (!first) return;
    [this.#waiting, this.#waitingBytes] = [[], 0];
    const request =
      this.#fetchMany && files.length > 1
        ? this.#fetchMany(
            files.map(({ named }) => named),
            (at, bytes) => files[at]?.arrived(bytes && contentFor(bytes, files[at].sha256)),
          )
        : first.fetch().then(first.arrived);
    // The states of those that did not come request them, and report what is wrong.
    const rest = (): void => {
      for (const { arrived } of files) arrived(undefined);
    };
    request.then(rest, rest);
    this.#count(request, list);
  }
}

/** Undefined where the file is another one than was announced. */
const contentFor = (bytes: Buffer, expected: string | undefined): Fetched | undefined => {
  const content = contentOf(bytes);
  const { sha256, size } = content;
  if (expected !== undefined && expected !== sha256) return undefined;
  return { answer: { found: true, sha256, size }, content };
};

const newList = (): List => ({
  files: [],
  places: new Map(),
  started: new Map(),
  used: 0,
  next: 0,
});

const append = ({ files, places }: List, more: readonly ComingFile[]): void => {
  for (const file of more) {
    const known = places.get(file.key);
    if (known) known.push(files.length);
    else places.set(file.key, [files.length]);
    files.push(file);
  }
};

/** The hash of the file at the destination, where it can be the wanted content. */
const presentHash = ({ dest, sha256, size }: ComingFile): string | undefined => {
  if (dest === undefined) return undefined;
  try {
    const found = statOf(dest);
    if (!found?.isFile() || found.size > largest) return undefined;
    return sha256 === undefined || found.size === size ? hashFile(dest) : undefined;
  } catch {
    // The state will say why it cannot be read.
    return undefined;
  }
};
