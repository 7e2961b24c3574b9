import { expect, test } from '@jest/globals';
import { costsPage } from '../../src/docs/costs-page.js';
import { readSources } from '../../src/docs/sources.js';

const refresh = {
  what: 'refresh',
  limit: 'The commit',
  edge: 410,
  domain: 1_200,
  worker: 0.4,
  written: 1_670,
};

test('the page of costs tells each part, all together, and sizes as people read them', () => {
  const { body } = costsPage({
    measuredOn: '2026-11-22',
    machine: '2 cores',
    idleConnectionsMegabytes: 6.9,
    costs: [refresh],
  });
  const text = body.toString();
  const [row] = /<tr><th scope="row">.*?<\/tr>/.exec(text) ?? [];
  const cells = row?.split(/<[^>]*>/).filter(Boolean);
  expect(cells).toEqual(['refresh', 'The commit', '410 s', '1,200 s', '0.4 s', '1,600 s', '1.7 GB']);
  expect(text).toContain('hold 6.9 MB of memory');
  expect(text).toContain('On 2026-11-22, 2 cores;');
});

test('published are token answers, gateway reads, deliveries, writes and sign-ins', () => {
  const { costs } = readSources().costs;
  const said = costs.map(({ what }) => what).join('\n');
  expect(costs.length).toBeGreaterThanOrEqual(12);
  for (const work of [
    'code exchange, RS256',
    'code exchange, ES256',
    'refresh',
    'userinfo',
    'workers, list of 100',
    'ETag matches',
    'one subscriber',
    '20 subscribers',
    'platform write',
    'sign-in',
  ]) {
    expect(said).toContain(work);
  }
});
