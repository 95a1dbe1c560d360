import { lengthBytes, packLength } from '../../src/protocol/many-files.ts';

/** Packs one item as the control node does. */
export const packOne = (bytes: Uint8Array | undefined): Buffer => {
  const packed = Buffer.alloc(lengthBytes + (bytes?.length ?? 0));
  packLength(packed, 0, bytes?.length);
  if (bytes) packed.set(bytes, lengthBytes);
  return packed;
};
