/** Words that begin something new in /etc/network/interfaces; other lines belong to what is above. */
const statement =
  /^\s*(?:auto|allow-\S+|iface|mapping|source|source-directory|no-auto-down|no-scripts|rename|template)(?:\s|$)/;
const isNothing = (line: string): boolean => /^\s*(?:#.*)?$/.test(line);

type Found = {
  /** The lines that are the interface's, tidy. */
  readonly own: readonly string[];
  /** All other lines. */
  readonly others: readonly string[];
  /** Where the first of its lines stood among the others; undefined when it has none. */
  readonly at: number | undefined;
};

/** Takes a file apart: what is said of an interface, and the rest. */
export const splitInterfaces = (text: string, name: string): Found => {
  const own: string[] = [];
  const others: string[] = [];
  let at: number | undefined;
  let isOwn = false;
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const words = line.trim().split(/\s+/);
    const [first = ''] = words;
    if (isNothing(line)) {
      others.push(line);
      continue;
    }
    if (statement.test(line)) {
      const isList = first === 'auto' || first.startsWith('allow-');
      isOwn = first === 'iface' && words[1] === name;
      if (isList && words.slice(1).includes(name)) {
        at ??= others.length;
        own.push(`${first} ${name}`);
        const left = words.filter((word, place) => place === 0 || word !== name);
        if (left.length > 1) others.push(left.join(' '));
        continue;
      }
    }
    if (!isOwn) others.push(line);
    else {
      at ??= others.length;
      own.push(tidy(line));
    }
  }
  return { own, others, at };
};

/** A line as `interfaceStanza` writes it. */
const tidy = (line: string): string => {
  const words = line.trim().split(/\s+/).join(' ');
  return /^(?:auto|allow-|iface)/.test(words) ? words : `    ${words}`;
};

/** The file with this in the place of what it says of the interface. */
export const replaceInterface = (text: string, name: string, stanza: string): string => {
  const { others, at } = splitInterfaces(text, name);
  const lines = stanza.replace(/\n$/, '').split('\n');
  if (at !== undefined) return join([...others.slice(0, at), ...lines, ...others.slice(at)]);
  const isBlank = others.length === 0 || others.at(-1) === '';
  return join([...(text === '' ? [] : others), ...(isBlank ? [] : ['']), ...lines]);
};

const join = (lines: readonly string[]): string => `${lines.join('\n')}\n`;

/** Each line with the family it is for; options have no order, and `bridge-fd` is `bridge_fd`. */
const meaningOf = (lines: readonly string[]): string => {
  let family = '';
  return lines
    .map(line => {
      const [first = '', ...words] = line.trim().split(/\s+/);
      if (first === 'iface') family = words.slice(1, 2).join();
      return `${line.startsWith(' ') ? family : ''} ${first.replaceAll('_', '-')} ${words.join(' ')}`;
    })
    .sort()
    .join('\n');
};

/** Whether two lists of an interface's lines say the same. */
export const isSameInterface = (one: readonly string[], other: readonly string[]): boolean =>
  meaningOf(one) === meaningOf(other);
