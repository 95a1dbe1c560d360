import type { Data } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { WrapperCall, WrapperFunction, WrapperModule } from '../define.ts';

/** The Salt release whose behaviour tsalt-ssh follows. */
const current = 3006;

/** Releases with year and month as their number. */
const dated: Readonly<Record<string, string>> = {
  hydrogen: '2014.1',
  helium: '2014.7',
  lithium: '2015.5',
  beryllium: '2015.8',
  boron: '2016.3',
  carbon: '2016.11',
  nitrogen: '2017.7',
  oxygen: '2018.3',
  fluorine: '2019.2',
};

/** Returns the elements from neon on: 3000, 3001 … */
const numbered = (
  'neon sodium magnesium aluminium silicon phosphorus sulfur chlorine argon potassium calcium ' +
  'scandium titanium vanadium chromium manganese iron cobalt nickel copper zinc gallium germanium ' +
  'arsenic selenium bromine krypton rubidium strontium yttrium zirconium niobium molybdenum'
).split(' ');

const releaseOf = (name: Data): string | null => {
  if (typeof name !== 'string')
    throw new TsaltError('arguments', "'name' argument must be a string");
  const element = name.toLowerCase();
  if (Object.hasOwn(dated, element)) return dated[element] ?? null;
  const at = numbered.indexOf(element);
  return at < 0 ? null : String(3000 + at);
};

const compared = (doc: string, holds: (release: number) => boolean): WrapperFunction => ({
  doc: `${doc} False for a name that no release has.`,
  params: ['name'],
  work: ({ get }: WrapperCall) => {
    const release = releaseOf(get('name'));
    return release !== null && holds(Math.trunc(Number(release)));
  },
});

/** `salt_version.*`: formulas check the release before they use its features. */
export const saltVersion: WrapperModule = {
  doc: 'The release of Salt that tsalt-ssh behaves like, by its code name: 3006, Sulfur.',
  functions: {
    equal: compared('Is this the release of that code name?', release => release === current),
    greater_than: compared(
      'Is this a later release than that of the code name?',
      release => current > release,
    ),
    less_than: compared(
      'Is this an earlier release than that of the code name?',
      release => current < release,
    ),
    get_release_number: {
      doc: 'The number of the release with a code name; null if it is unknown.',
      params: ['name'],
      work: ({ get }) => releaseOf(get('name')),
    },
  },
};
