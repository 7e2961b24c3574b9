import { describe, expect, test } from '@jest/globals';
import { dashboards, type Panel } from './expressions.js';

const COLUMNS = 24;

function overlaps({ gridPos: one }: Panel, { gridPos: other }: Panel): boolean {
  const apart =
    one.x + one.w <= other.x ||
    other.x + other.w <= one.x ||
    one.y + one.h <= other.y ||
    other.y + other.h <= one.y;
  return !apart;
}

test('there is an overview and a dashboard for each role, each with an id of its own', () => {
  expect(dashboards.map(([name]) => name).sort()).toEqual([
    'domain.json',
    'edge.json',
    'overview.json',
    'worker.json',
  ]);
  expect(new Set(dashboards.map(([, { uid }]) => uid)).size).toBe(4);
});

describe.each(dashboards)('the dashboard %s', (_, dashboard) => {
  const { panels, templating } = dashboard;

  test('takes its Prometheus and the instances from variables', () => {
    expect(templating.list.map(({ name, type }) => [name, type])).toEqual([
      ['datasource', 'datasource'],
      ['instance', 'query'],
    ]);
    for (const panel of panels.filter(({ type }) => type !== 'row')) {
      expect([panel.title, panel.datasource]).toEqual([
        panel.title,
        { type: 'prometheus', uid: `\${datasource}` },
      ]);
    }
  });

  test('has panels with a title, a sentence and queries with a legend', () => {
    expect(panels.length).toBeGreaterThan(9);
    for (const { type, title, description = '', targets = [] } of panels) {
      expect(title).toMatch(/^[A-Z]/);
      if (type !== 'row') {
        expect(['timeseries', 'stat']).toContain(type);
        expect([title, description]).toEqual([title, expect.stringMatching(/\.$/)]);
        expect([title, targets.length]).not.toEqual([title, 0]);
        expect(targets.filter(({ expr, legendFormat }) => expr === '' || legendFormat === '')).toEqual([]);
        expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
      }
    }
  });

  test('has its panels beside each other, not upon each other', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > COLUMNS)).toEqual([]);
    const clashes = panels.flatMap((one, at) =>
      panels
        .slice(at + 1)
        .filter((other) => overlaps(one, other))
        .map((other) => [one.title, other.title]),
    );
    expect(clashes).toEqual([]);
  });
});
