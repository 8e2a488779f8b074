import type { Browser, Page } from 'playwright-core';
import { drawn, look } from './browser/chromium.ts';

export interface Measured {
  first: number; // ms from the answer's arrival to the first lanes
  nodes: number;
  zoom: number; // frames per second
  pan: number;
  script: number; // ms of script in the slowest frame
}

// measure opens the large allocation, and zooms and pans in it as a hand would, one step a frame.
export async function measure(b: Browser, url: string, seconds = 3): Promise<Measured> {
  const { context, page } = await look(b, { ownClock: true });
  const address = `${url}/ui/allocations/a-large`;
  await page.goto(address);
  await drawn(page);
  const first = await page.evaluate(() => {
    const asked = performance
      .getEntriesByType('resource')
      .find((e) => /allocations\/a-large$/.test(e.name)) as PerformanceResourceTiming;
    return performance.getEntriesByName('lanes')[0]!.startTime - asked.responseEnd;
  });
  await page.waitForTimeout(1500);
  const nodes = await page.evaluate(() => document.getElementsByTagName('*').length);
  await page.locator('.field').focus();
  const zoom = await frames(page, 'zoom', seconds);
  const pan = await frames(page, 'pan', seconds);
  await context.close();
  return { first, nodes, zoom: zoom.fps, pan: pan.fps, script: Math.max(zoom.script, pan.script) };
}

async function frames(page: Page, what: 'zoom' | 'pan', seconds: number): Promise<{ fps: number; script: number }> {
  return page.evaluate(
    ([name, long]) =>
      new Promise<{ fps: number; script: number }>((done) => {
        const field = document.querySelector('.field')!;
        const box = field.getBoundingClientRect();
        let n = 0;
        let slowest = 0;
        const begun = performance.now();
        const step = () => {
          const now = performance.now();
          if (now - begun > long * 1000) return done({ fps: (n * 1000) / (now - begun), script: slowest });
          const wave = Math.sin(n / 25);
          const sent = { clientX: box.x + box.width * 0.4, clientY: box.y + 40, bubbles: true, cancelable: true };
          field.dispatchEvent(
            new WheelEvent('wheel', name === 'zoom' ? { ...sent, deltaY: wave * 50 } : { ...sent, deltaX: wave * 60 }),
          );
          slowest = Math.max(slowest, performance.now() - now);
          n++;
          requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
      }),
    [what, seconds] as const,
  );
}
