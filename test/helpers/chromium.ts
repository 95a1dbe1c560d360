import { existsSync } from 'node:fs';
import puppeteer, { type Browser } from 'puppeteer-core';

/** Debian's Chromium. Where it is missing, tests that need it are skipped by name. */
export const chromium = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync);

export const startChromium = (): Promise<Browser> =>
  puppeteer.launch({
    executablePath: chromium ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
