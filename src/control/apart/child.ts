// Computes what hosts send (their own templates and documents) outside of the control process.
import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { FileRoots } from '../../fileserver/file-roots.ts';
import { TsaltError } from '../../protocol/error.ts';
import { pack, unpack } from '../../render/confined/wire.ts';
import { renderText } from '../../render/render.ts';
import { deserialize } from '../../wrapper/functions/serializers.ts';
import type {
  ApartJob,
  FromChild,
  JobEnd,
  ReadJob,
  RenderJob,
  TemplateCallResult,
  ToChild,
} from './jobs.ts';
import { decodeError, encodeError } from './sent-error.ts';

/** One job. It works on its own input and asks the control node for everything else. */
class Work {
  readonly #id: number;
  readonly #job: ApartJob;
  #hear: ((answer: TemplateCallResult) => void) | undefined;

  constructor(id: number, job: ApartJob) {
    this.#id = id;
    this.#job = job;
  }

  async end(): Promise<JobEnd> {
    try {
      const job = this.#job;
      return { text: job.type === 'render' ? await this.#render(job) : read(job) };
    } catch (error) {
      return { fault: encodeError(error) };
    }
  }

  answered(answer: TemplateCallResult): void {
    this.#hear?.(answer);
  }

  #render({ text, file, pipe, saltenv, whitelist, blacklist, ...given }: RenderJob) {
    return renderText({
      text,
      file,
      pipe,
      saltenv,
      whitelist,
      blacklist,
      renderers: new Map(),
      context: {
        grains: dictOf(given.grains),
        pillar: dictOf(given.pillar),
        opts: dictOf(given.opts),
        extra: dictOf(given.extra),
        files: new FileRoots({}),
        call: this.#call,
      },
    });
  }

  #call = (fun: string, args: readonly Data[], kwargs: Dict): Promise<Data> =>
    new Promise((resolve, reject) => {
      if (this.#hear)
        throw new TsaltError('internal', 'A template made two calls at the same time.');
      this.#hear = answer => {
        this.#hear = undefined;
        if ('fault' in answer) reject(decodeError(answer.fault));
        else resolve(changed(unpack(answer.value), args, answer.argument));
      };
      send({ type: 'ask', id: this.#id, question: [fun, pack([...args]), pack(kwargs)] });
    });
}

/** Repeats the function's change of an argument on the copy in this process. */
const changed = (value: Data, args: readonly Data[], argument: number | undefined): Data => {
  const given = argument === undefined ? undefined : args[argument];
  if (isDict(given) && isDict(value)) {
    given.clear();
    for (const [key, item] of value) given.set(key, item);
    return given;
  }
  if (Array.isArray(given) && Array.isArray(value)) {
    given.length = 0;
    for (const item of value) given.push(item);
    return given;
  }
  return value;
};

const dictOf = (text: string): Dict => {
  const value = unpack(text);
  return isDict(value) ? value : new Map();
};

const read = ({ format, text, most }: ReadJob): string => {
  const value = deserialize(format, text, new Map());
  const left = { ...most };
  const count = (item: Data): void => {
    left.values -= 1;
    if (typeof item === 'string') left.characters -= item.length;
    if (left.values < 0) throw tooMuch(`${most.values} values`);
    if (left.characters < 0) throw tooMuch(`${most.characters} characters`);
    if (Array.isArray(item)) for (const inner of item) count(inner);
    else if (isDict(item))
      for (const [key, inner] of item) {
        count(key);
        count(inner);
      }
  };
  count(value);
  return pack(value);
};

const tooMuch = (what: string): TsaltError =>
  new TsaltError('wire-method', `A document of the host contains more than ${what}.`, {
    kind: 'host',
  });

const send = (message: FromChild): void => {
  process.send?.(message);
};

let current: { readonly id: number; readonly work: Work } | undefined;

process.on('message', (message: ToChild) => {
  if (message.type === 'begin') {
    const { id, job } = message;
    const work = new Work(id, job);
    current = { id, work };
    void work.end().then(end => {
      if (current?.id === id) send({ type: 'end', id, end });
    });
  } else if (current?.id === message.id) {
    if (message.type === 'answer') current.work.answered(message.answer);
    else current = undefined;
  }
});

// A rejection that nothing awaits must not end the process.
process.on('unhandledRejection', () => undefined);
