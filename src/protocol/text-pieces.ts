const pieceSize = 256 * 1024;

/**
 * Cuts a text between characters. Each piece can be encoded separately: encoding a large text at
 * once would need several times its size in memory.
 */
export function* textPieces(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + pieceSize);
    const last = text.charCodeAt(to - 1);
    if (to < text.length && last >= 0xd800 && last < 0xdc00) to -= 1;
    yield to - from === text.length ? text : text.slice(from, to);
    from = to;
  }
}

let scratch: Buffer | undefined;

/** Calls back with the UTF-8 of each piece of a text. The bytes are valid only during the call. */
export const bytePieces = (text: string, take: (bytes: Uint8Array) => void): void => {
  const buffer = scratchBuffer();
  for (const piece of textPieces(text)) take(buffer.subarray(0, buffer.write(piece)));
};

/** A reusable buffer for a piece: new buffers would leave as much garbage as the text is long. */
export const scratchBuffer = (): Buffer => {
  scratch ??= Buffer.allocUnsafeSlow(pieceSize * 3);
  return scratch;
};
