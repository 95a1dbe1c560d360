// Writes the line of one change. scripts/release-changelog.ts puts the lines into their place.
module.exports = {
  getReleaseLine: async ({ summary }) => `- ${summary.trim().split(/\r?\n/).join('\n  ')}`,
  getDependencyReleaseLine: async () => '',
};
