import { plainStr } from '../_shared/text/python-text.ts';
import { __grains__, type PlainDict } from '../api.ts';
import { runPackager } from './packages.ts';

const noninteractive = {
  DEBIAN_FRONTEND: 'noninteractive',
  APT_LISTBUGS_FRONTEND: 'none',
  APT_LISTCHANGES_FRONTEND: 'none',
  UCF_FORCE_CONFFOLD: '1',
};

export const apt = (
  args: readonly string[],
  {
    program = 'apt-get',
    env = {},
    stdin,
  }: { program?: string; env?: PlainDict; stdin?: string } = {},
) =>
  runPackager([program, ...args], {
    env: {
      ...noninteractive,
      ...Object.fromEntries(Object.entries(env).map(([key, value]) => [key, plainStr(value)])),
    },
    locked:
      /Could not get lock|is another process using it|Unable to acquire the dpkg frontend lock/,
    ...(stdin === undefined ? {} : { stdin }),
  });

export const normalize = (name: string): string => {
  const [plain = name, arch] = name.split(':');
  return arch === undefined || arch === 'all' || arch === 'any' || arch === __grains__.osarch
    ? plain
    : name;
};

export const parseControl = (text: string): { [field: string]: string }[] =>
  text
    .split(/\n\n+/)
    .filter(block => block.trim() !== '')
    .map(block => {
      const fields: { [field: string]: string } = {};
      let last = '';
      for (const line of block.split('\n')) {
        const match = /^([A-Za-z0-9-]+):\s*(.*)$/.exec(line);
        if (match) {
          last = match[1] ?? '';
          fields[last] = match[2] ?? '';
        } else if (last) fields[last] = `${fields[last]}\n${line.trim()}`;
      }
      return fields;
    });

export const selectionsByName = async (): Promise<Map<string, string>> => {
  const { stdout } = await apt(['--get-selections', '*'], { program: 'dpkg' });
  const states = new Map<string, string>();
  for (const line of stdout.split('\n')) {
    const [name, state] = line.trim().split(/\s+/);
    if (name && state) states.set(normalize(name), state);
  }
  return states;
};

/** Returns those of these packages that are held. */
export const heldAmong = async (names: readonly string[]): Promise<string[]> => {
  const states = await selectionsByName();
  return names.filter(name => states.get(name) === 'hold');
};
