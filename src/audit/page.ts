import type { PageAbout } from '../output/html/about.ts';
import { findingItems, shownTime } from '../plan/show.ts';
import type { Audit } from './audit.ts';
import { auditSummary, driftGroups, goneLines, reasonLines, sinceNote } from './show.ts';

/**
 * Returns what the page of an audit has beside the results.
 *
 * @param correction the command that makes hosts as their states want them
 */
export const auditPage = (audit: Audit, correction: string | undefined): PageAbout => ({
  title: `Audit ${audit.jid}`,
  facts: [
    ['Hosts', auditSummary(audit)],
    ['Began', shownTime(audit.began)],
    ...(audit.previous === undefined
      ? []
      : [['Compared with', `the audit of ${shownTime(audit.previous)}`] as const]),
  ],
  outcomes: { changed: 'drifted', ok: 'clean' },
  changes: 'What has drifted',
  groups: driftGroups(audit).map(group => ({
    hosts: group.hosts,
    changes: group.changes.map(state => {
      const note = sinceNote(audit, group, state);
      return { state, ...(note === undefined ? {} : { note }) };
    }),
  })),
  lists: [
    { title: 'Gone since the last audit', items: goneLines(audit) },
    { title: 'Without a result', items: reasonLines(audit) },
    { title: 'Findings', items: findingItems(audit) },
  ],
  commands: correction === undefined ? [] : [['Make them as wanted', correction]],
});
