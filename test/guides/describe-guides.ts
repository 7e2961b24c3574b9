import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { webhookEnvironment } from '../flow/webhooks/webhook-environment.js';
import { type Example, examplesOf, type Program, patternOf, servedPage } from './guide-page.js';
import { guidesToType, languageGuides } from './guides.js';
import type { Project } from './project.js';
import { RunningProgram } from './running-program.js';
import { Shell } from './shell.js';
import { refusesInvalid, returnWithIdTokens, returnWithoutServer } from './sign-in-story.js';
import { type Story, stories } from './stories.js';

const INSTALL_LIMIT_MS = 300_000;
const STORY_LIMIT_MS = 180_000;

interface InstalledProject extends Project {
  readonly folder: string;
  /** What a compiler says of all programs before any runs. */
  check?(programs: readonly (readonly [slug: string, program: Program])[]): Promise<void>;
}

/** Every program of every page in one language, against a separate service. */
export function describeGuides(newProject: () => InstalledProject): void {
  const environment = webhookEnvironment();
  const pages = new Map<string, string>();
  const running: RunningProgram[] = [];
  let project: InstalledProject;

  beforeAll(async () => {
    const { gatewayUrl } = environment.demo.service;
    for (const slug of languageGuides) {
      pages.set(slug, await servedPage(gatewayUrl, slug));
    }
    project = newProject();
    await project.install(pages.get('start') ?? '', [...pages.values()]);
    const programs = [...pages].flatMap(([slug, page]) =>
      examplesOf(page).map((example) => [slug, programOf(example)] as const),
    );
    await project.check?.(programs);
  }, INSTALL_LIMIT_MS);
  afterAll(async () => {
    await Promise.all(running.map((program) => program.stop()));
    rmSync(project?.folder ?? '', { recursive: true, force: true });
  });

  const programOf = ({ programs }: Example) =>
    programs.find(({ language }) => language === project.language) as Program;

  const started = async (slug: string, program: Program, env: Record<string, string>) => {
    const command = await project.command(slug, program);
    const process = new RunningProgram({ ...command, env: { ...command.env, ...env } });
    running.push(process);
    return process;
  };

  test.each(Object.entries(stories))(
    'what %s shows runs as it stands there, and prints what it says',
    async (slug: string, story: Story) => {
      const examples = examplesOf(pages.get(slug) ?? '');
      expect(examples).not.toHaveLength(0);
      for (const [index, example] of examples.entries()) {
        const outputs = await story({
          demo: environment.demo,
          example: index,
          runs: example.prints.length,
          linesOf: (run) => example.prints[run]?.split('\n').length ?? 0,
          start: (env) => started(slug, programOf(example), env),
        });
        expect(outputs).toHaveLength(example.prints.length);
        for (const [run, prints] of example.prints.entries()) {
          expect(outputs[run]).toMatch(patternOf(prints));
        }
      }
    },
    STORY_LIMIT_MS,
  );

  /** Starts a program that signs people in, the first of the page or the second, at another server. */
  const startedAt = (example: number) => {
    const program = programOf(examplesOf(pages.get('sign-in') ?? '')[example] as Example);
    const present = `http://localhost:${environment.demo.service.settings.SIGN_ON_PORT}`;
    return (issuer: string, env: Record<string, string>) =>
      started('sign-in', { ...program, code: program.code.replace(present, issuer) }, env);
  };

  test(
    'the program that signs people in answers the browser also where the sign-on server does not answer',
    async () => {
      expect(await returnWithoutServer(startedAt(0))).toBe(400);
    },
    STORY_LIMIT_MS,
  );

  test.each([
    ['the SDK', 0],
    ['a library', 1],
  ])(
    'the program that signs people in with %s survives an address that cannot be parsed, and refuses invalid ID tokens',
    async (_, example) => {
      expect(await returnWithIdTokens(startedAt(example))).toEqual(refusesInvalid);
    },
    STORY_LIMIT_MS,
  );

  // After the stories: what is typed changes the demo.
  test.each(guidesToType)(
    'what %s says to type works as it stands there',
    async (slug) => {
      const shell = new Shell({ demo: environment.demo, project, slug });
      expect(await shell.follow(pages.get(slug) ?? '')).toBeGreaterThan(0);
    },
    STORY_LIMIT_MS,
  );
}
