/** SGR sequences by Salt's names of colours; all empty when colour is off. */
export type Palette = Readonly<Record<ColorName, string>>;

export type ColorName =
  | 'DARK_GRAY'
  | 'RED'
  | 'LIGHT_RED'
  | 'GREEN'
  | 'YELLOW'
  | 'LIGHT_YELLOW'
  | 'CYAN'
  | 'LIGHT_GRAY'
  | 'WHITE'
  | 'ENDC';

const codes: Readonly<Record<ColorName, string>> = {
  DARK_GRAY: '1;30',
  RED: '31',
  LIGHT_RED: '1;31',
  GREEN: '32',
  YELLOW: '33',
  LIGHT_YELLOW: '1;33',
  CYAN: '36',
  LIGHT_GRAY: '37',
  WHITE: '1;37',
  ENDC: '0',
};

export const palette = (color: boolean): Palette =>
  Object.fromEntries(
    Object.entries(codes).map(([name, code]) => [name, color ? `\u001b[0;${code}m` : '']),
  ) as Palette;
