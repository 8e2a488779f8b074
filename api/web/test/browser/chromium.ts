import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { now } from '../fake/world.ts';

const places = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

// executable is the browser of this machine; there is none to download.
export const executable = places.find((p): p is string => p !== undefined && existsSync(p));

// patience is how long a test waits for what must come, in milliseconds: far more than it takes, for a machine that is
// busy with other tests is slow now and then.
const patience = 30_000;

// until waits in the test's own time, for that of the page stands still: what an action leads to, in the address too,
// comes after it and not with it.
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + patience;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`it never came to this: ${String(holds)}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

export async function browser(): Promise<Browser> {
  if (!executable) throw new Error('no chromium: apt-get install chromium, or CHROMIUM=/path/to/it');
  return chromium.launch({ executablePath: executable, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

export interface Looking {
  width?: number;
  height?: number;
  theme?: 'light' | 'dark';
  bypassCSP?: boolean;
  reducedMotion?: 'reduce' | 'no-preference';
  ownClock?: boolean; // the machine's: a clock that stands still measures nothing
}

// look opens a page at the world's time; what the page complains about is kept, so that a test can say that nothing did.
export async function look(
  b: Browser,
  o: Looking = {},
): Promise<{ context: BrowserContext; page: Page; complaints: string[] }> {
  const context = await b.newContext({
    viewport: { width: o.width ?? 1440, height: o.height ?? 960 },
    colorScheme: o.theme ?? 'light',
    bypassCSP: o.bypassCSP ?? false,
    reducedMotion: o.reducedMotion ?? 'no-preference',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  // the loader of these tests names functions by a helper that a page doesn't have
  await context.addInitScript('globalThis.__name = (f) => f');
  const page = await context.newPage();
  if (!o.ownClock) await page.clock.setFixedTime(new Date(now));
  page.setDefaultTimeout(patience);
  loadAgain(page);
  const complaints: string[] = [];
  page.on('pageerror', (e) => complaints.push(String(e)));
  page.on('console', (m) => {
    if (m.type() === 'error' && !/status of 4\d\d/.test(m.text()) && !m.text().includes(changed))
      complaints.push(m.text());
  });
  return { context, page, complaints };
}

// changed is what Chromium says of every request under way when an interface of the computer comes or goes. Other tests
// make interfaces, and containers beside these do; it says nothing of the page.
const changed = 'net::ERR_NETWORK_CHANGED';

// loadAgain has a page opened once more when the computer's network changed as it was opened.
function loadAgain(page: Page): void {
  let lost = false;
  page.on('requestfailed', (r) => (lost ||= r.failure()?.errorText === changed));
  const open = page.goto.bind(page);
  page.goto = async (url, options) => {
    for (let left = 5; ; left--) {
      lost = false;
      try {
        const answer = await open(url, options);
        if (!lost || left === 0) return answer;
      } catch (e) {
        if (!String(e).includes(changed) || left === 0) throw e;
      }
    }
  };
}

// drawn waits until the lanes are painted.
export async function drawn(page: Page): Promise<void> {
  await page.waitForSelector('canvas[data-drawn]');
}
