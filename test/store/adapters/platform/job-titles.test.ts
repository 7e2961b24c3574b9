import { expect, test } from '@jest/globals';
import {
  addJobTitle,
  listJobTitles,
  removeJobTitle,
  renameJobTitle,
} from '../../../../src/domain/platform/organization/job-titles.js';
import { offboardWorker } from '../../../../src/domain/platform/people/worker-changes.js';
import { getWorker } from '../../../../src/domain/platform/people/workers.js';
import { describeEachDatabase } from '../../../support/databases.js';
import { refusalOf } from '../../../support/platform-writes.js';
import { onboard, tracked } from './organization.js';
import { newPlatform, type Platform } from './people.js';

const MORE_THAN_A_STATEMENT_TAKES = 70;

function titlesOf({ run, client }: Platform, pageSize = 0, pageToken = '') {
  return run((changes) => listJobTitles(changes, client.id, { pageSize, pageToken }));
}

function add({ run, client }: Platform, title: string) {
  return run((changes) => addJobTitle(changes, { clientId: client.id, title }));
}

describeEachDatabase('job titles', (under) => {
  test('are added once, and adding one that is there changes nothing', async () => {
    const platform = await newPlatform(under);
    const title = { clientId: platform.client.id, title: ' Welder ' };
    const first = await tracked(platform, (changes) => addJobTitle(changes, title));
    expect(first).toEqual({ answer: 'Welder', touched: [platform.client.id], events: [] });
    const second = await tracked(platform, (changes) => addJobTitle(changes, title));
    expect(second).toEqual({ answer: 'Welder', touched: [], events: [] });
  });

  test('are listed in the order of the alphabet, page after page', async () => {
    const platform = await newPlatform(under);
    for (const title of ['Welder', 'Ärztin', 'Accountant', 'clerk', 'Clerk']) {
      await add(platform, title);
    }
    const pages: string[][] = [];
    let token = '';
    do {
      const { titles, nextPageToken } = await titlesOf(platform, 2, token);
      pages.push(titles);
      token = nextPageToken;
    } while (token !== '');
    expect(pages).toEqual([['Accountant', 'Clerk'], ['Welder', 'clerk'], ['Ärztin']]);
  });

  test.each([
    ['not base64url', '???'],
    ['of a NUL', Buffer.from('a\0b').toString('base64url')],
  ])('are not listed from a page token that is %s', async (_, token) => {
    const platform = await newPlatform(under);
    await expect(refusalOf(titlesOf(platform, 2, token))).resolves.toEqual({
      code: 'INVALID_REQUEST',
      faults: ['page_token must be taken unchanged from an earlier answer of this list'],
    });
  });

  test('take a new text with all who hold them, each who is not offboarded with an event', async () => {
    const platform = await newPlatform(under);
    const { client } = platform;
    const holder = await onboard(platform, { jobTitles: ['Clerk', 'Welder', 'Cook'] });
    const gone = await onboard(platform, { jobTitles: ['Welder'] });
    await platform.run((changes) => offboardWorker(changes, { workerId: gone.id }));
    const spared = await onboard(platform, { jobTitles: ['Clerk', 'welder', 'Master Welder', '"Welder"'] });

    const { answer, touched, events } = await tracked(platform, (changes) =>
      renameJobTitle(changes, { clientId: client.id, title: 'Welder', newTitle: 'Metalworker' }),
    );
    expect(answer).toEqual({ title: 'Metalworker', updatedWorkers: 2 });
    expect(touched).toEqual([client.id]);
    expect(events.map(({ type, entity }) => [type, entity.id])).toEqual([['worker.updated', holder.id]]);
    const [left] = await platform.run((changes) => changes.workers.findAll(client.id, [gone.id]));
    expect(left?.jobTitles).toEqual(['Metalworker']);
    expect(left?.version).not.toBe(gone.version);
    expect(events[0]?.data.jobTitles).toEqual(['Clerk', 'Metalworker', 'Cook']);
    const stored = await platform.run((changes) => getWorker(changes, holder.id));
    expect(stored).toMatchObject({ jobTitles: ['Clerk', 'Metalworker', 'Cook'] });
    expect(stored.version).not.toBe(holder.version);
    await expect(platform.run((changes) => getWorker(changes, spared.id))).resolves.toEqual(spared);
    const { titles } = await titlesOf(platform);
    expect(titles).toEqual(['"Welder"', 'Clerk', 'Cook', 'Master Welder', 'Metalworker', 'welder']);
  });

  test('are renamed for very many, each of whom keeps the others that they hold', async () => {
    const platform = await newPlatform(under);
    const workers = [];
    for (let number = 1; number <= MORE_THAN_A_STATEMENT_TAKES; number += 1) {
      workers.push(await onboard(platform, { jobTitles: [`Grade ${number}`, 'Welder'] }));
    }
    const rename = { clientId: platform.client.id, title: 'Welder', newTitle: 'Metalworker' };
    await platform.run((changes) => renameJobTitle(changes, rename));
    const updatedAt = platform.now();
    const ids = workers.map(({ id }) => id);
    const present = await platform.run((changes) => changes.workers.findAll(platform.client.id, ids));
    expect(present).toEqual(
      workers.map((worker, index) => ({
        ...worker,
        jobTitles: [`Grade ${index + 1}`, 'Metalworker'],
        version: expect.any(String),
        updatedAt,
      })),
    );
    expect(new Set(present.map(({ version }) => version)).size).toBe(workers.length);
  });

  test('that look like patterns are found for what they are', async () => {
    const platform = await newPlatform(under);
    const odd = await onboard(platform, { jobTitles: ['100% _!\\ "boss"'] });
    await onboard(platform, { jobTitles: ['100 per cent'] });
    const rename = { clientId: platform.client.id, title: '100% _!\\ "boss"', newTitle: 'Boss' };
    const { answer, events } = await tracked(platform, (changes) => renameJobTitle(changes, rename));
    expect(answer).toEqual({ title: 'Boss', updatedWorkers: 1 });
    expect(events.map(({ entity }) => entity.id)).toEqual([odd.id]);
  });

  test('that get the text they have change nothing', async () => {
    const platform = await newPlatform(under);
    await onboard(platform, { jobTitles: ['Welder'] });
    const rename = { clientId: platform.client.id, title: 'Welder', newTitle: ' Welder' };
    await expect(tracked(platform, (changes) => renameJobTitle(changes, rename))).resolves.toEqual({
      answer: { title: 'Welder', updatedWorkers: 0 },
      touched: [],
      events: [],
    });
  });

  test('are removed when only workers who were offboarded hold them', async () => {
    const platform = await newPlatform(under);
    const title = { clientId: platform.client.id, title: 'Welder' };
    const worker = await onboard(platform, { jobTitles: ['Welder'] });
    await expect(refusalOf(platform.run((changes) => removeJobTitle(changes, title)))).resolves.toEqual({
      code: 'RESOURCE_IN_USE',
      faults: [],
    });
    await platform.run((changes) => offboardWorker(changes, { workerId: worker.id }));
    const { touched, events } = await tracked(platform, (changes) => removeJobTitle(changes, title));
    expect({ touched, events }).toEqual({ touched: [platform.client.id], events: [] });
    await expect(titlesOf(platform)).resolves.toEqual({ titles: [], nextPageToken: '' });
    await expect(platform.run((changes) => getWorker(changes, worker.id))).resolves.toMatchObject({
      jobTitles: ['Welder'],
    });
  });

  test.each([
    ['renaming one that is not there', 'Cook', 'Chef', 'JOB_TITLE_NOT_FOUND', []],
    [
      'a text that another has',
      'Welder',
      'Clerk',
      'ALREADY_EXISTS',
      ['new_title is a job title of the client already'],
    ],
    [
      'two empty texts',
      ' ',
      '',
      'INVALID_REQUEST',
      ['title must not be empty', 'new_title must not be empty'],
    ],
  ])('refuse %s', async (_, title, newTitle, code, faults) => {
    const platform = await newPlatform(under);
    await add(platform, 'Welder');
    await add(platform, 'Clerk');
    const rename = { clientId: platform.client.id, title, newTitle };
    await expect(refusalOf(platform.run((changes) => renameJobTitle(changes, rename)))).resolves.toEqual({
      code,
      faults,
    });
    await expect(titlesOf(platform)).resolves.toMatchObject({ titles: ['Clerk', 'Welder'] });
  });
});
