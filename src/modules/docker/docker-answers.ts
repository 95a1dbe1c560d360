import type { PlainDict } from '../api.ts';

/** An answer of the engine that is a list. */
export const asList = (answer: unknown): PlainDict[] =>
  Array.isArray(answer) ? (answer as PlainDict[]) : [];

/** A number of bytes as Salt writes it: `12 bytes`, `1.5 MiB`. */
export const sizeText = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} bytes`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const at = Math.min(Math.floor(Math.log2(bytes) / 10), units.length);
  return `${(bytes / 1024 ** at).toFixed(1)} ${units[at - 1]}`;
};

/** Objects by id, with Salt's name of the time when each was made. */
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

/** Images by id: those with a tag first, the others only when `all` are asked for. */
export const shownImages = (images: readonly PlainDict[], all: boolean): PlainDict => {
  const isTagged = ({ RepoTags }: PlainDict): boolean =>
    Array.isArray(RepoTags) && RepoTags.some(tag => tag !== '<none>:<none>');
  const tagged = images.filter(isTagged);
  const rest = all ? images.filter(one => !isTagged(one)) : [];
  return named(
    [...tagged, ...rest].map(one => ({ ...one, Size_Human: sizeText(Number(one.Size ?? 0)) })),
  );
};
