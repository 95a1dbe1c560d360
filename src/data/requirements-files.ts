/** The files that a text of pip's requirements names by `-r` and `-c`; addresses are left out. */
export const requirementsNamed = (text: string): string[] =>
  [...text.matchAll(/^[ \t]*(?:-[rc][ \t]*|--(?:requirement|constraint)[ \t=]+)(\S+)/gm)]
    .map(found => found[1] ?? '')
    .filter(child => !child.includes('://'));

/** Those beside or below a `salt://` file, as such. */
export const saltRequirementsNamed = (url: string, text: string): string[] => {
  const [bare = '', query] = url.slice('salt://'.length).split('?');
  return requirementsNamed(text)
    .filter(child => !child.startsWith('/'))
    .map(child => `salt://${beside(bare, child)}${query ? `?${query}` : ''}`);
};

/** One that leads out of the file roots keeps its `..`, and is refused where it is asked for. */
const beside = (path: string, child: string): string => {
  const parts = path.split('/').slice(0, -1);
  for (const part of child.split('/'))
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  return parts.join('/');
};
