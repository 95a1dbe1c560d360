/** Bytes of JSON that the output of a command may take: a message has at most 64 MB. */
const mostEncoded = 60 * 1024 * 1024;

/** The part of an output that fits into a message, and the line that says what is missing. */
type Fitted = { readonly text: string; readonly note: string };

/**
 * Cuts the streams of a command so that both fit into one message as JSON.
 *
 * @param dropped bytes of each stream that were not even read
 */
export const fitStreams = (
  stdout: string,
  stderr: string,
  dropped: { readonly stdout: number; readonly stderr: number },
): { readonly stdout: Fitted; readonly stderr: Fitted } => {
  const error = fitted('stderr', stderr, dropped.stderr, mostEncoded / 2);
  const rest = mostEncoded - encodedLength(error.text);
  return { stdout: fitted('stdout', stdout, dropped.stdout, rest), stderr: error };
};

/** As `fitStreams`, for the text of both streams in the order of their arrival. */
export const fitMerged = (text: string, dropped: number): Fitted =>
  fitted('output', text, dropped, mostEncoded);

const fitted = (name: string, whole: string, dropped: number, most: number): Fitted => {
  const text = fittingPart(whole, most);
  const missing = dropped + Buffer.byteLength(whole.slice(text.length));
  if (missing === 0) return { text, note: '' };
  const kept = Math.floor(Buffer.byteLength(text) / 1024 / 1024);
  return {
    text,
    note: `\n[${name} is cut: the first ${kept} MB are kept, ${missing} bytes more are not.]`,
  };
};

/** No character takes more bytes as JSON. */
const widest = 6;

/** Returns the longest beginning of a text that has at most so many bytes as JSON. */
export const fittingPart = (text: string, most: number): string => {
  if (text.length * widest <= most) return text;
  let left = most;
  for (let at = 0; at < text.length; at += 1) {
    left -= encodedSize(text.charCodeAt(at));
    if (left < 0) return text.slice(0, isLowSurrogate(text.charCodeAt(at)) ? at - 1 : at);
  }
  return text;
};

/** Returns how many bytes a text has as JSON. */
const encodedLength = (text: string): number => {
  let size = 0;
  for (let at = 0; at < text.length; at += 1) size += encodedSize(text.charCodeAt(at));
  return size;
};

const short: ReadonlySet<number> = new Set([8, 9, 10, 12, 13]);

const encodedSize = (code: number): number => {
  if (code < 0x20) return short.has(code) ? 2 : widest;
  if (code === 0x22 || code === 0x5c) return 2;
  if (code < 0x80) return 1;
  return code < 0x800 ? 2 : 3;
};

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;
