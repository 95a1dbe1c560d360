import { notDone } from '../../../_shared/states/not-done.ts';
import { log, type PlainDict } from '../../../api.ts';

/** The version of Salt that this follows. */
export const version = (): string => '3006.9';

/** Versions of what runs here. */
export const versions_information = (): PlainDict => ({
  'Salt Version': { Salt: version() },
  'Dependency Versions': Object.fromEntries(
    Object.entries(process.versions).map(([name, value]) => [name, value ?? '']),
  ),
  'System Versions': { system: process.platform, machine: process.arch },
});

/** Returns the versions as text. */
export const versions_report = (): string =>
  Object.entries(versions_information())
    .map(([title, items]) => {
      const width = Math.max(...Object.keys(items as PlainDict).map(name => name.length));
      const lines = Object.entries(items as PlainDict).map(
        ([name, value]) => `${name.padStart(width + 10)}: ${value}`,
      );
      return [`${title}:`, ...lines].join('\n');
    })
    .join('\n\n');

/** Salt's other name of `test.versions_report`. */
export const versions = versions_report;

/** A function that no host has in Salt; here it answers as there. */
export const missing_func = (): string => 'foo';

/** True, with a warning in the log. */
export const deprecation_warning = (): boolean => {
  log.warning('This is a test deprecation warning.');
  return true;
};

/** Not supported: the error of a call contains the reason why a module is not loaded. */
export const not_loaded = (): never =>
  notDone('test.not_loaded', 'the reason is part of its error');
