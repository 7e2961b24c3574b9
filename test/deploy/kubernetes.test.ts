import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../../src/config/config.js';
import { packageRoot, packageVersion } from '../../src/config/package.js';
import { integration } from '../cli/typed.js';
import { newPostgresDatabase, type PostgresDatabase } from '../support/databases.js';
import { freePorts } from '../support/free-ports.js';
import { newAuthority } from '../support/self-signed-certificate.js';
import { serviceProcesses } from '../support/service-process.js';
import { temporaryDirectories } from '../support/temporary-directory.js';
import { describeWith } from '../support/toolchains.js';

const run = promisify(execFile);
const folder = join(packageRoot, 'deploy/kubernetes');
const ROLES = ['domain', 'edge', 'worker'] as const;
type Role = (typeof ROLES)[number];

const textOf = (file: string) => readFileSync(join(folder, file), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: kubernetes-validate checks the shapes.
type Untyped = any;
const objectsIn = (file: string): Untyped[] =>
  parseAllDocuments(textOf(file)).map((document) => document.toJS());
const kustomization = parse(textOf('kustomization.yaml'));
const objects: Untyped[] = kustomization.resources.flatMap(objectsIn);
const ofKind = (kind: string) => objects.filter((object) => object.kind === kind);
const deploymentOf = (role: Role) =>
  ofKind('Deployment').find(({ metadata }) => metadata.name === `integration-${role}`);
const podOf = (role: Role) => deploymentOf(role).spec.template.spec;
const containerOf = (role: Role) => podOf(role).containers[0];

/** Where the secrets are mounted. */
const SECRETS = '/run/secrets/integration/';

/** The settings in the environment of a container, with this address for its pod. */
function environmentOf(role: Role, podAddress: string): Record<string, string> {
  const shared = textOf('settings.env').trim().split('\n');
  const own = containerOf(role).env as { name: string; value?: string }[];
  return {
    ...Object.fromEntries(shared.map((line) => line.split(/=(.*)/s).slice(0, 2))),
    ...Object.fromEntries(own.map(({ name, value }) => [name, value ?? podAddress])),
  };
}

describeWith('kubernetes-validate', 'the files for Kubernetes', (validate) => {
  const directory = temporaryDirectories();

  test.each<string>(kustomization.resources)('pass kubernetes-validate: %s', async (file) => {
    await expect(run(validate, ['--strict', '--quiet', join(folder, file)])).resolves.toMatchObject({
      stdout: '',
    });
  });

  test('do not pass it with a misspelt field', async () => {
    const file = join(directory(), 'edge.yaml');
    writeFileSync(file, textOf('edge.yaml').replace('readOnlyRootFilesystem', 'readonlyRootFilesystem'));
    await expect(run(validate, ['--strict', '--quiet', file])).rejects.toThrow();
  });
});

test('the kustomization names every file, and the image of this release', () => {
  const others = ['kustomization.yaml', 'settings.env'];
  expect([...kustomization.resources, ...others].sort()).toEqual(readdirSync(folder).sort());
  expect(kustomization.images).toEqual([{ name: 'integration-service', newTag: packageVersion }]);
});

describe.each(ROLES)('the nodes of role %s', (role) => {
  test('run without root, capabilities and a writable root', () => {
    const { image, args, securityContext } = containerOf(role);
    expect([image, args]).toEqual(['integration-service', [role]]);
    expect(podOf(role)).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  test('are restarted when they are not alive, and get calls when they are ready', () => {
    const { livenessProbe, readinessProbe, ports } = containerOf(role);
    expect(livenessProbe.httpGet).toEqual({ path: '/livez', port: 'metrics' });
    expect(readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'metrics' });
    const { METRICS_PORT } = loadConfig({});
    expect(ports).toContainEqual({ name: 'metrics', containerPort: METRICS_PORT });
  });

  test('are replaced one by one, and stopped one at a time, with time to end their work', () => {
    const { strategy, selector, template } = deploymentOf(role).spec;
    expect(strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
    const { DRAIN_DELAY, SHUTDOWN_GRACE } = loadConfig({ ENVIRONMENT: 'live' });
    const graceMs = template.spec.terminationGracePeriodSeconds * 1_000;
    expect(graceMs).toBeGreaterThan(Number(DRAIN_DELAY) + Number(SHUTDOWN_GRACE));
    const budget = ofKind('PodDisruptionBudget').find(
      ({ metadata }) => metadata.name === `integration-${role}`,
    );
    expect(budget.spec).toEqual({ maxUnavailable: 1, selector });
    expect(template.metadata.labels).toEqual(selector.matchLabels);
  });

  test('get their secrets as files, and only their own', () => {
    const { projected } = podOf(role).volumes.find(({ name }: { name: string }) => name === 'secrets');
    const mounted = projected.sources.flatMap(({ secret }: { secret: { items: { path: string }[] } }) =>
      secret.items.map(({ path }) => `${SECRETS}${path}`),
    );
    const named = Object.values(environmentOf(role, '')).filter((value) => value.startsWith(SECRETS));
    expect(mounted.sort()).toEqual(named.sort());
    expect(projected.defaultMode).toBe(0o440);
  });

  test('have ports that services and network policies name', () => {
    const names = containerOf(role).ports.map(({ name }: { name: string }) => name);
    const { labels } = deploymentOf(role).spec.template.metadata;
    const services = ofKind('Service').filter(
      ({ spec }) => JSON.stringify(spec.selector) === JSON.stringify(labels),
    );
    const policies = ofKind('NetworkPolicy').filter(
      ({ metadata }) => metadata.name === `integration-${role}`,
    );
    const targets = services.flatMap(({ spec }) =>
      spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort),
    );
    const allowed = policies.flatMap(({ spec }) =>
      spec.ingress.flatMap(({ ports }: { ports: { port: string }[] }) => ports.map(({ port }) => port)),
    );
    expect([...targets, 'metrics'].sort()).toEqual([...names].sort());
    expect(allowed.sort()).toEqual(targets.sort());
  });
});

describe('the settings of the nodes', () => {
  const directory = temporaryDirectories();
  const services = serviceProcesses();
  let database: PostgresDatabase | undefined;
  afterAll(() => database?.drop());

  /** The secrets as files, and the path of their folder in place of the mounted one. */
  function mounted(databaseUrl: string) {
    const place = join(directory(), 'secrets');
    mkdirSync(place);
    const authority = newAuthority('the cluster');
    const { certificate, key } = authority.issue();
    const secrets = {
      'database-url': databaseUrl,
      'edge-token': 'e'.repeat(64),
      'relay-token': 'r'.repeat(64),
      'maintenance-token': 'm'.repeat(64),
      ...{ 'tls.crt': certificate, 'tls.key': key, 'ca.crt': authority.certificate },
    };
    for (const [name, content] of Object.entries(secrets)) {
      writeFileSync(join(place, name), content, { mode: 0o440 });
    }
    return (settings: Record<string, string>) =>
      Object.fromEntries(
        Object.entries(settings).map(([name, value]) => [name, value.replace(SECRETS, `${place}/`)]),
      );
  }

  test.each(ROLES)('are accepted in live, and no secret is among them: %s', (role) => {
    const inPlace = mounted('postgres://integration:p@db.example.com/integration?sslmode=verify-full');
    expect(loadConfig(inPlace(environmentOf(role, '10.0.3.4')))).toMatchObject({ ENVIRONMENT: 'live' });
    expect(textOf(`${role}.yaml`)).not.toMatch(/kind: Secret/);
  });

  test('are enough for nodes that serve: edge and worker find the domain', async () => {
    database = await newPostgresDatabase();
    const inPlace = mounted(database.url);
    const [roles] = await freePorts(1);
    const here = {
      ...{ METRICS_HOST: '127.0.0.1', GRPC_HOST: '127.0.0.1', ROLES_ADDRESS: `127.0.0.1:${roles}` },
      ...{ DOMAIN_ADDRESS: `dns:///localhost:${roles}`, TEMPORAL_ADDRESS: undefined },
    };
    const settings = inPlace(environmentOf('domain', ''));
    const { DATABASE_URL_FILE = '', SECRETS_KEY_FILE = '' } = settings;
    const made = await integration(['init'], { ENVIRONMENT: 'live', DATABASE_URL_FILE, SECRETS_KEY_FILE });
    expect([made.code, made.stderr]).toEqual([0, '']);
    for (const role of ROLES) {
      const own = inPlace(environmentOf(role, ''));
      const { ROLES_ADDRESS, ...others } = here;
      const env = { ...own, ...others, ...(role === 'domain' && { ROLES_ADDRESS }) };
      const node = await services.start({ command: role, env });
      const checks = role === 'domain' ? { database: { ok: true } } : { domain: { ok: true } };
      expect(await node.readiness()).toMatchObject({ checks });
    }
  });
});
