import { type Page, readPage } from './read-page.ts';

/** Set by the build, which reads it once. */
declare const reportPage: Page;

let known: Page | undefined = typeof reportPage === 'undefined' ? undefined : reportPage;

/** The program and the style of the page of a report. */
export const pageSource = (): Page => {
  known ??= readPage();
  return known;
};
