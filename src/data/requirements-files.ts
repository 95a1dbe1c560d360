/** Returns the files that pip requirements name by `-r` and `-c`; addresses are left out. */
export const requirementsNamed = (text: string): string[] =>
  [...text.matchAll(/^[ \t]*(?:-[rc][ \t]*|--(?:requirement|constraint)[ \t=]+)(\S+)/gm)]
    .map(found => found[1] ?? '')
    .filter(child => !child.includes('://'));

/** Resolves such files relative to a `salt://` file. */
export const saltRequirementsNamed = (url: string, text: string): string[] => {
  const [bare = '', query] = url.slice('salt://'.length).split('?');
  return requirementsNamed(text)
    .filter(child => !child.startsWith('/'))
    .map(child => `salt://${beside(bare, child)}${query ? `?${query}` : ''}`);
};

/** A path that leads out of the file roots keeps its `..`, and is refused when it is requested. */
const beside = (path: string, child: string): string => {
  const parts = path.split('/').slice(0, -1);
  for (const part of child.split('/'))
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  return parts.join('/');
};
