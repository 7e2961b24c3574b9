import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { temporal } from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { installRuntime } from '../../workflows/runtime.js';
import { historyFromFile } from './history-file.js';
import { silentLog, writeBundle } from './temporal-fixture.js';

type Event = temporal.api.history.v1.IHistoryEvent;

const folder = new URL('./histories/', import.meta.url);
const recorded = readdirSync(folder).filter((name) => name.endsWith('.json'));
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8');

describe('the workflow definitions', () => {
  let bundlePath: string;

  beforeAll(async () => {
    installRuntime(silentLog);
    bundlePath = await writeBundle();
  });

  const replay = (history: string) =>
    Worker.runReplayHistory({ workflowBundle: { codePath: bundlePath } }, historyFromFile(history));

  test('have recorded histories', () => {
    expect(recorded.length).toBeGreaterThanOrEqual(2);
  });

  test('have a recorded history of the newer branch of each patch', () => {
    const definitions = new URL('../../workflows/definitions/', import.meta.url);
    const sources = readdirSync(definitions)
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(new URL(name, definitions), 'utf8'));
    const patches = sources.flatMap((source) =>
      [...source.matchAll(/\bpatched\(([^)]+)\)/g)].map(
        ([, constant]) => new RegExp(`const ${constant} = '(.+)';`).exec(source)?.[1],
      ),
    );
    const markers = recorded
      .flatMap((name) => (JSON.parse(read(name)) as { events: Event[] }).events)
      .flatMap(({ markerRecordedEventAttributes: marker }) => marker?.details?.['patch-data']?.payloads ?? [])
      .map(({ data }) => JSON.parse(Buffer.from(String(data), 'base64').toString()).id);
    expect(new Set(markers)).toEqual(new Set(patches));
  });

  test.each(recorded)('still take the steps of %s', async (name) => {
    await replay(read(name));
  });

  test('do what a signal has made due before they continue as new', async () => {
    const history = JSON.parse(read('webhook-retry-as-started-asks-first-run-1.json'));
    const hurried = history.events.findIndex(
      ({ activityTaskScheduledEventAttributes: scheduled }: Event) => scheduled?.activityId === 'attempts-5',
    );
    expect(hurried).toBeGreaterThan(0);
    const { workflowTaskStartedEventAttributes: started } = history.events
      .slice(0, hurried)
      .findLast((event: Event) => event.workflowTaskStartedEventAttributes);
    started.suggestContinueAsNew = true;
    await replay(JSON.stringify(history));
  });

  test('are caught when they take another step than a history', async () => {
    const other = read('purge-batches-run-1.json').replaceAll('"batch-1"', '"another-batch"');
    await expect(replay(other)).rejects.toThrow(DeterminismViolationError);
  });
});
