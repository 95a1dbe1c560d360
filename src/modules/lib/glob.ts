/** A shell pattern (`*`, `?`, `[a-z]`, `[!a]`) as a regular expression over the whole text. */
export const globPattern = (glob: string): RegExp => {
  let source = '';
  for (let at = 0; at < glob.length; at += 1) {
    const character = glob[at] ?? '';
    const set = character === '[' ? /^\[(!?)(\]?[^\]]*)\]/.exec(glob.slice(at)) : null;
    if (set) {
      source += `[${set[1] ? '^' : ''}${(set[2] ?? '').replace(/[\\\]^]/g, '\\$&')}]`;
      at += set[0].length - 1;
    } else if (character === '*') source += '[\\s\\S]*';
    else if (character === '?') source += '[\\s\\S]';
    else source += character.replace(/[.+^${}()|[\]\\/]/g, '\\$&');
  }
  return new RegExp(`^${source}$`);
};
