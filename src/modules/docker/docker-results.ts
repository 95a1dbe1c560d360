import type { PlainDict } from '../api.ts';

/** Returns a response of the engine as a list. */
export const listResponse = (answer: unknown): PlainDict[] =>
  Array.isArray(answer) ? (answer as PlainDict[]) : [];

/** Formats a number of bytes like Salt: `12 bytes`, `1.5 MiB`. */
export const sizeText = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} bytes`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const at = Math.min(Math.floor(Math.log2(bytes) / 10), units.length);
  return `${(bytes / 1024 ** at).toFixed(1)} ${units[at - 1]}`;
};

/** Returns objects by id, with their creation time under Salt's name. */
export const named = (objects: readonly PlainDict[]): PlainDict =>
  Object.fromEntries(
    objects.map(({ Id, Created, ...rest }) => [
      String(Id),
      {
        ...rest,
        Time_Created_Epoch: Created ?? null,
        Time_Created_Local: new Date(Number(Created) * 1000).toLocaleString('sv', {
          timeZoneName: 'short',
        }),
      },
    ]),
  );

/** Returns images by id: tagged ones first, and untagged ones only with `all`. */
export const shownImages = (images: readonly PlainDict[], all: boolean): PlainDict => {
  const isTagged = ({ RepoTags }: PlainDict): boolean =>
    Array.isArray(RepoTags) && RepoTags.some(tag => tag !== '<none>:<none>');
  const tagged = images.filter(isTagged);
  const rest = all ? images.filter(one => !isTagged(one)) : [];
  return named(
    [...tagged, ...rest].map(one => ({ ...one, Size_Human: sizeText(Number(one.Size ?? 0)) })),
  );
};
