/**
 * Returns the changelog after a release: the entries of "Unreleased" and the lines that changesets
 * wrote stand below the version, and "Unreleased" is empty.
 *
 * @param text - the changelog as `changeset version` left it
 * @throws Error if a part is missing
 */
export const releasedChangelog = (text: string, version: string, date: string): string => {
  const [title = '', ...sections] = text.split(/^(?=## )/m);
  const find = (name: string): number =>
    sections.findIndex(section => section.split('\n', 1)[0] === `## ${name}`);
  const written = find(version);
  const unreleased = find('Unreleased');
  if (written < 0)
    throw new Error(
      `there is no "## ${version}". Run "npx changeset" first, then release:version.`,
    );
  if (unreleased < written) throw new Error('there is no "## Unreleased" below the new version.');
  // The introduction of the file follows the title, so it is now part of the version's section.
  const body = withoutHeading(sections[written] ?? '');
  const start = body.search(/^All notable changes/m);
  if (start < 0) throw new Error('the introduction ("All notable changes …") is missing.');
  const headlines = body
    .slice(0, start)
    .replace(/^### (?:Major|Minor|Patch) Changes$/gm, '')
    .replace(/\n{2,}/g, '\n')
    .trim();
  const entries = withoutHeading(sections[unreleased] ?? '').trim();
  const others = sections.filter((_, at) => at !== written && at !== unreleased).join('');
  return `${[
    title.trim(),
    body.slice(start).trim(),
    '## Unreleased',
    `## ${version} - ${date}`,
    headlines,
    entries,
    others.trim(),
  ]
    .filter(part => part !== '')
    .join('\n\n')}\n`;
};

/** Returns the notes of a version: what stands between its heading and the next one. */
export const notesOf = (text: string, version: string): string => {
  const section = text.split(/^(?=## )/m).find(one => one.split(/[ \n]/, 2)[1] === version);
  if (section === undefined) throw new Error(`there is no "## ${version}".`);
  return `${withoutHeading(section).trim()}\n`;
};

const withoutHeading = (section: string): string => section.slice(section.indexOf('\n') + 1);
