import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/config.js';
import {
  codeOf,
  inAlerts,
  inFrom131,
  inInstallation,
  inMove,
  inPrometheus,
  inWalk,
  NOT_TYPED,
  type Printed,
  pages,
  terminalBlocks,
} from './blocks.js';
import { testOnLinux } from './machine.js';

/** Of blocks that are not typed in a terminal. */
const DATA_LANGUAGES = ['ini', 'json', 'yaml'];

const typed = { inWalk, inAlerts, inFrom131, inInstallation, inMove, inPrometheus };
const typists = {
  ...{ inWalk: 'walk.test.ts', inAlerts: 'alerts.test.ts' },
  ...{ inInstallation: 'install.test.ts', inMove: 'move.test.ts' },
  ...{ inPrometheus: 'prometheus.test.ts', inFrom131: 'from-1.3.1.test.ts' },
};
const listed: Printed[] = [
  ...Object.values(typed).flatMap((each) => Object.values<Printed>(each)),
  ...NOT_TYPED.map(([page, begins]): Printed => [page, begins]),
];

test('a test types each block of the pages, or the list says why not', () => {
  const codes = listed.map(codeOf);
  const unknown = Object.keys(pages)
    .flatMap(terminalBlocks)
    .filter((code) => !codes.includes(code));
  expect(unknown).toEqual([]);
  expect(codes).toHaveLength(new Set(codes).size);
});

/** The commands that a block runs if one fails and all others succeed; none of them does anything. */
function runWhereFails(block: Printed, failing: string): string[] {
  const script = `PATH=/nowhere; cd() { :; }
    command_not_found_handle() { echo "$*"; case "$*" in '${failing}'*) return 1; esac; }\n${codeOf(block)}`;
  const { stdout } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  return stdout.trim().split('\n');
}

const ROLLOUT = 'kubectl -n integration rollout';

testOnLinux.each<[failing: string, next: string, ...block: Printed]>([
  ['integration restore', 'systemctl start', ...inWalk.restore],
  ['integration config check', 'systemctl restart', ...inWalk.upgrade],
  ['tar', 'ln', ...inWalk.upgrade],
  ['openssl', 'mv', ...inAlerts.replaceCertificate],
  ['promtool', 'systemctl restart', ...inPrometheus.install],
  ['sqlite3', 'systemctl start', 'rotate-keys', 'systemctl stop'],
  ['docker build', 'docker push', 'install', 'docker build'],
  ['kubectl apply', `${ROLLOUT} resume`, 'upgrade', `${ROLLOUT} pause deployment/integration-edge`],
  ['kubectl apply', `${ROLLOUT} resume`, 'upgrade', `${ROLLOUT} pause deployment/integration-domain`],
  [`${ROLLOUT} status`, `${ROLLOUT} resume`, 'upgrade', `${ROLLOUT} pause deployment/integration-edge`],
  [
    `${ROLLOUT} status deployment/integration-edge`,
    `${ROLLOUT} resume`,
    ...(['upgrade', `${ROLLOUT} pause deployment/integration-domain`] as const),
  ],
])('where %s fails, a block does not go on with %s: %s', (failing, next, ...block) => {
  const isRun = (command: string, commands: string[]) => commands.some((each) => each.startsWith(command));
  expect(isRun(next, runWhereFails(block, 'nothing'))).toBe(true);
  const run = runWhereFails(block, failing);
  expect([isRun(failing, run), isRun(next, run)]).toEqual([true, false]);
});

test('the way back to 1.3.1 needs no command that 1.3.1 does not have', () => {
  const [way = ''] = /^To go back to 1\.3\.1, .*$/m.exec(pages.upgrade ?? '') ?? [];
  expect(way).toContain('integration.db');
  expect(way).not.toMatch(/`integration /);
});

test('each block says what its language is', () => {
  const openings = Object.entries(pages).flatMap(([page, text]) =>
    [...text.matchAll(/^\s*```(.*)\n[\s\S]*?\n\s*```$/gm)].map(([, language = '']) => `${page}: ${language}`),
  );
  expect(openings.length).toBeGreaterThan(listed.length);
  const known = ['sh', 'text', ...DATA_LANGUAGES].join('|');
  expect(openings.filter((each) => !new RegExp(`: (?:${known})$`).test(each))).toEqual([]);
});

test('live accepts each address of PostgreSQL on the pages', () => {
  const addresses = Object.values(pages).flatMap((text) =>
    [...text.matchAll(/^DATABASE_\w*URL=(.*)$/gm)].map(([, address = '']) => address),
  );
  expect(addresses.length).toBeGreaterThan(0);
  for (const address of addresses) {
    expect(loadConfig({ DATABASE_URL: address }).DATABASE_URL?.reveal()).toBe(address);
  }
});

test('no page passes an address with its password as an argument, which other users can read', () => {
  const argument = /\$\{?DATABASE_\w*URL\b/;
  expect(Object.keys(pages).filter((page) => argument.test(pages[page] ?? ''))).toEqual([]);
});

test.each(Object.entries(typists))('the test of %s types each of its blocks', (list, file) => {
  const sources = [file, 'machine.ts'].map((each) => readFileSync(join(import.meta.dirname, each), 'utf8'));
  const names = Object.keys(typed[list as keyof typeof typed]);
  expect(names.filter((name) => !new RegExp(`\\b${list}\\.${name}\\b`).test(sources.join('')))).toEqual([]);
});
