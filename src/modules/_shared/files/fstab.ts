/** An entry of fstab(5). */
export type FstabEntry = {
  readonly device: string;
  readonly name: string;
  readonly fstype: string;
  readonly opts: string;
  readonly dump: string;
  readonly pass_num: string;
};

/** Parses a line of fstab; undefined for comments and empty lines. */
export const parseFstabLine = (line: string): FstabEntry | undefined => {
  if (/^\s*(#|$)/.test(line)) return undefined;
  const [device, name, fstype, opts = 'defaults', dump = '0', pass_num = '0'] = line
    .trim()
    .split(/\s+/)
    .map(decodeFstabField);
  return device && name && fstype ? { device, name, fstype, opts, dump, pass_num } : undefined;
};

export const renderFstabLine = ({
  device,
  name,
  fstype,
  opts,
  dump,
  pass_num,
}: FstabEntry): string => {
  const [what, where, type, how] = [device, name, fstype, opts].map(encode);
  return `${what}\t\t${where}\t${type}\t${how}\t${dump} ${pass_num}`;
};

export const decodeFstabField = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));

const encode = (text: string): string =>
  text.replace(/[\s\\]/g, c => `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`);
